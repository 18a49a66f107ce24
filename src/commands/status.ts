import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { formatInstant, systemClock } from '../clock.ts';
import { loadStaleSettings } from '../config/config.ts';
import { loadDatabasePath, loadPublishPath } from '../config/paths.ts';
import { EXIT } from '../errors.ts';
import { judge, type Reason, staleAge } from '../observe/verdict.ts';
import { remainingMs } from '../service/retry-after.ts';
import { type LockStatus, readLockStatus } from '../store/lock.ts';
import { type Overview, readOverview } from '../store/queries/overview.ts';
import type { Command } from './host.ts';
import { situationOf } from './situation.ts';
import { describeStanding, type PublishedCopy, type Standing } from './standing.ts';

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
  const verdict = judge(situationOf(overview, { worker, staleAfterMs: (at) => staleAge(limits, at) }));
  const { token_granted_at: _, last_pause, ...facts } = overview;
  const pauseMs = remainingMs(last_pause, now);
  const standing: Standing = {
    ...verdict,
    database,
    ...facts,
    token_expires_at: mayHoldToken(worker, overview) ? overview.token_expires_at : null,
    worker,
    paused_until: pauseMs > 0 ? formatInstant(now + pauseMs) : null,
    published: findCopy(loadPublishPath(host)),
  };
  await host.print(json === true ? toJson(standing) : describeStanding(standing, { now, terminal: host.terminal }));
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

function toJson({ worker, last_poll: _, last_answered_login: __, ...rest }: Standing): string {
  const { pid = null, host = null, since = null } = (worker.state === 'none' ? undefined : worker.holder) ?? {};
  return JSON.stringify({ ...rest, worker: { state: worker.state, pid, host, since } });
}
