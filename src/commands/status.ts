import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { formatInstant, systemClock } from '../clock.ts';
import { loadDatabasePath, loadPublishPath } from '../config/database.ts';
import { EXIT } from '../errors.ts';
import { msLeftOf } from '../service/pause.ts';
import { readOverview } from '../store/overview.ts';
import { readPresence } from '../store/presence.ts';
import type { Command } from './host.ts';
import { describeStanding, type PublishedCopy, type Standing } from './standing.ts';

/** What the database says of itself, and whether a worker is at it. Exits 0 however stale it is. */
export const status: Command<{ readonly json?: boolean }> = async (host, { json }) => {
  const database = loadDatabasePath(host);
  const { last_pause, ...overview } = readOverview(database);
  const now = systemClock.now();
  const pauseMs = msLeftOf(last_pause, now);
  const standing: Standing = {
    database,
    ...overview,
    worker: readPresence(database, { host: hostname(), isAlive: host.isAlive }),
    paused_until: pauseMs > 0 ? formatInstant(now + pauseMs) : null,
    published: findCopy(loadPublishPath(host)),
  };
  await host.print(json === true ? toJson(standing) : describeStanding(standing, { now, terminal: host.terminal }));
  return EXIT.done;
};

/** A copy is dated by the instant that it shows. */
function findCopy(path: string | undefined): PublishedCopy | null {
  if (path === undefined) return null;
  try {
    return { path, at: formatInstant(statSync(path).mtimeMs) };
  } catch {
    return { path, at: null };
  }
}

function toJson({ worker, ...rest }: Standing): string {
  const { pid = null, host = null, since = null } = (worker.state === 'none' ? undefined : worker.holder) ?? {};
  return JSON.stringify({ ...rest, worker: { state: worker.state, pid, host, since } });
}
