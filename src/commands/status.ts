import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { loadStaleSettings, type StaleSettings } from '../config/config.ts';
import { loadDatabasePath } from '../config/paths.ts';
import { type ErrorKind, EXIT } from '../errors.ts';
import { assess, type HealthInput, staleAge } from '../observe/verdict.ts';
import { remainingMs } from '../service/retry-after.ts';
import { type LockStatus, readLockStatus } from '../store/lock.ts';
import { type Overview, readOverview } from '../store/queries/overview.ts';
import { formatTimestamp, systemClock } from '../time/clock.ts';
import type { Command } from './command.ts';
import { concernsPolls, describeStatus, type StatusReport } from './status-text.ts';

type StatusOptions = { readonly json?: boolean; readonly failIfStale?: boolean };

export const status: Command<StatusOptions> = async (io, { json, failIfStale }) => {
  const database = await loadDatabasePath(io);
  const limits = await loadStaleSettings(io);
  const overview = readOverview(database);
  const worker = readLockStatus(database, { host: hostname(), isAlive: io.isAlive });
  const now = systemClock.now();
  const verdict = assess(toHealthInput(overview, limits, worker.state === 'none'));
  const { token_granted_at: _, last_retry_after, ...facts } = overview;
  const waitMs = remainingMs(last_retry_after, now);
  const report: StatusReport = {
    ...verdict,
    database,
    ...facts,
    token_expires_at: mayHoldToken(worker, overview) ? overview.token_expires_at : null,
    worker,
    paused_until: waitMs > 0 ? formatTimestamp(now + waitMs) : null,
    published: findCopy(io.settings().values.LEAGUE_SYNC_PUBLISH?.trim()),
  };
  await io.print(json === true ? toJson(report) : describeStatus(report, { now, terminal: io.terminal }));
  return failIfStale === true && verdict.reasons.some(concernsPolls) ? EXIT.failed : EXIT.done;
};

/** Tokens are kept in memory only, so a worker that started after the login cannot have the token of that login. */
function mayHoldToken(worker: LockStatus, { token_granted_at: grantedAt }: Overview): boolean {
  if (worker.state === 'none' || grantedAt === null) return false;
  return worker.holder === undefined || worker.holder.since <= grantedAt;
}

function findCopy(path: string | undefined): StatusReport['published'] {
  if (!path) return null;
  try {
    return { path, at: formatTimestamp(statSync(path).mtimeMs) };
  } catch {
    return { path, at: null };
  }
}

function toJson({ worker, last_poll: _, last_answered_login: __, ...rest }: StatusReport): string {
  const { pid = null, host = null, since = null } = (worker.state === 'none' ? undefined : worker.holder) ?? {};
  return JSON.stringify({ ...rest, worker: { state: worker.state, pid, host, since } });
}

function toHealthInput(overview: Overview, limits: StaleSettings, isIdle: boolean): HealthInput {
  const { freshness, last_answered_login: login, last_poll: poll } = overview;
  const { last_success_at, age_seconds } = freshness;
  const at = Date.parse(last_success_at ?? '');
  // `last_success_at` may lie in the future if the clock was set back; the age in `freshness` allows for that.
  const ageMs = (age_seconds ?? 0) * 1_000;
  const kind = (poll?.error_kind ?? undefined) as ErrorKind | undefined;
  const lastError = kind && { kind, message: poll?.error_message ?? kind };
  // A credentials error without an HTTP status means that a secret file could not be read.
  const failed =
    lastError?.kind === 'credentials' ? { ...lastError, byService: poll?.http_status !== null } : undefined;
  const refused = login?.outcome === 'refused' ? { message: login.error_message ?? '', byService: true } : failed;
  return {
    success: last_success_at === null ? undefined : { at, ageMs, staleAfterMs: staleAge(limits, at) },
    refused,
    // Always undefined: a stored database error proves that the database could be written again.
    databaseFault: undefined,
    failures: freshness.consecutive_failures,
    lastError,
    held: freshness.held_removals,
    rejected: freshness.open_rejections,
    isIdle,
  };
}
