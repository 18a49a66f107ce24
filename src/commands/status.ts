import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { formatInstant, systemClock } from '../clock.ts';
import { loadStaleSettings, type StaleSettings } from '../config/config.ts';
import { loadDatabasePath, loadPublishPath } from '../config/paths.ts';
import { type ErrorKind, EXIT } from '../errors.ts';
import { judge, type Reason, type Situation, staleAge } from '../observe/verdict.ts';
import { remainingMs } from '../service/retry-after.ts';
import { type LockStatus, readLockStatus } from '../store/lock.ts';
import { type Overview, readOverview } from '../store/queries/overview.ts';
import type { Command } from './host.ts';
import { describeStatus, type PublishedCopy, type StatusReport } from './status-text.ts';

export type StatusOptions = {
  readonly json?: boolean;
  /** Whether data that is stale, or that there is none, is a failure. */
  readonly failIfStale?: boolean;
};

/** What the database says of itself, a verdict first, and whether a worker is at it. */
export const status: Command<StatusOptions> = async (host, { json, failIfStale }) => {
  const database = loadDatabasePath(host);
  const limits = loadStaleSettings(host);
  const overview = readOverview(database);
  const worker = readLockStatus(database, { host: hostname(), isAlive: host.isAlive });
  const now = systemClock.now();
  const verdict = judge(situationOf(overview, worker, limits));
  const { token_granted_at: _, last_pause, ...facts } = overview;
  const pauseMs = remainingMs(last_pause, now);
  const report: StatusReport = {
    ...verdict,
    database,
    ...facts,
    token_expires_at: mayHoldToken(worker, overview) ? overview.token_expires_at : null,
    worker,
    paused_until: pauseMs > 0 ? formatInstant(now + pauseMs) : null,
    published: findCopy(loadPublishPath(host)),
  };
  await host.print(json === true ? toJson(report) : describeStatus(report, { now, terminal: host.terminal }));
  return failIfStale === true && verdict.reasons.some(isStale) ? EXIT.failed : EXIT.done;
};

function isStale({ reason }: Reason): boolean {
  return reason === 'stale' || reason === 'no-good-poll';
}

/** Tokens live in memory only: no process can hold one that was granted before it began. */
function mayHoldToken(worker: LockStatus, { token_granted_at: grantedAt }: Overview): boolean {
  if (worker.state === 'none' || grantedAt === null) return false;
  return worker.holder === undefined || worker.holder.since <= grantedAt;
}

/** A copy is dated by the instant that it shows. */
function findCopy(path: string | undefined): PublishedCopy | null {
  if (path === undefined) return null;
  try {
    return { path, at: formatInstant(statSync(path).mtimeMs) };
  } catch {
    return { path, at: null };
  }
}

function toJson({ worker, last_poll: _, last_answered_login: __, ...rest }: StatusReport): string {
  const { pid = null, host = null, since = null } = (worker.state === 'none' ? undefined : worker.holder) ?? {};
  return JSON.stringify({ ...rest, worker: { state: worker.state, pid, host, since } });
}

/** What the database knows of what the verdict of a worker rests on. */
function situationOf(overview: Overview, worker: LockStatus, limits: StaleSettings): Situation {
  const { freshness, last_answered_login, last_poll } = overview;
  return {
    success: successOf(freshness, limits),
    refused: refusedBy(last_answered_login) ?? refusedByPoll(last_poll),
    // A row that tells of one was written once it was over.
    databaseFault: undefined,
    failures: freshness.consecutive_failures,
    lastError: errorOf(last_poll),
    held: freshness.held_removals,
    rejected: freshness.open_rejections,
    isIdle: worker.state === 'none',
  };
}

/** The age is the database's own reckoning, which is right even if the clock was set back. */
function successOf(
  { last_success_at, age_seconds }: Overview['freshness'],
  limits: StaleSettings,
): Situation['success'] {
  if (last_success_at === null) return undefined;
  const at = Date.parse(last_success_at);
  return { at, ageMs: (age_seconds ?? 0) * 1_000, staleAfterMs: staleAge(limits, at) };
}

function errorOf(poll: Overview['last_poll']): Situation['lastError'] {
  if (poll === undefined || poll.error_kind === null) return undefined;
  return { kind: poll.error_kind as ErrorKind, message: poll.error_message ?? poll.error_kind };
}

function refusedBy(login: Overview['last_answered_login']): Situation['refused'] {
  if (login?.outcome !== 'refused') return undefined;
  return { message: login.error_message ?? login.outcome, byService: true };
}

/** Without an answer of the service it was a file of secrets that could not be read. */
function refusedByPoll(poll: Overview['last_poll']): Situation['refused'] {
  if (poll?.error_kind !== 'credentials') return undefined;
  return { message: poll.error_message ?? poll.error_kind, byService: poll.http_status !== null };
}
