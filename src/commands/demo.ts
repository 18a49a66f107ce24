import { realpathSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { formatInstant, systemClock } from '../clock.ts';
import { loadConfig, loadLogConfig } from '../config/config.ts';
import { readSettings } from '../config/environment.ts';
import { formatDuration } from '../duration.ts';
import { EXIT, StoppedError, UsageError } from '../errors.ts';
import type { Log } from '../log.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { prepareFolder } from '../store/folder.ts';
import { foreign, isForeign } from '../store/foreign.ts';
import { acquireLock } from '../store/lock.ts';
import { runQuery } from '../store/query.ts';
import { createCopy } from '../worker/copier.ts';
import { runWorker } from '../worker/worker.ts';
import { showChanges } from './demo-feed.ts';
import type { Command, Host } from './host.ts';

const DATABASE = 'demo-data/leagues.db';
/** Short enough that a few seconds show a renewal, long enough to be read. */
const TOKEN_LIFE_MS = 6_000;
const CHURN_MS = 1_500;
const PASSWORD = 'demo-password';

/** Simulated service and worker in one process, from an empty database. Reads no settings but those of the log. */
export const demo: Command<{ readonly forMs?: number }> = async (host, { forMs }) => {
  const logConfig = loadLogConfig(readSettings(host.environment));
  const log = await host.openLog(logConfig, 1);
  const path = startAnew(host);
  await using simulator = await startSimulator({
    username: 'demo',
    password: PASSWORD,
    tokenLifeMs: TOKEN_LIFE_MS,
    churnMs: CHURN_MS,
  });
  log.info(
    `simulated service on ${simulator.url}: tokens live ${formatDuration(TOKEN_LIFE_MS)}, leagues change every ${formatDuration(CHURN_MS)}`,
  );
  log.info(`${DATABASE} begins anew: what an earlier demo left there is gone`);
  explain(log, forMs);

  const signal = forMs === undefined ? host.stop : stopAfter(forMs, host.stop);
  const settings = {
    LEAGUE_SYNC_BASE_URL: simulator.url,
    LEAGUE_SYNC_USERNAME: 'demo',
    LEAGUE_SYNC_PASSWORD: PASSWORD,
    LEAGUE_SYNC_DATABASE: DATABASE,
    LEAGUE_SYNC_SCHEDULE: '*/2 * * * * *',
    LEAGUE_SYNC_PROFILE_SCHEDULE: '*/10 * * * * *',
    LEAGUE_SYNC_LISTEN: '127.0.0.1:0',
  };
  const config = loadConfig(readSettings(settings), host.environment);
  const showing = showChanges(path, log, signal);
  await runWorker(config, { log, pid: host.pid, signal, onPollNow: host.onHangup, copy: createCopy(host) });
  await showing;
  summarize(log, path);
  return EXIT.done;
};

/** Aborts when the time is over or when the operator stops the demo, whichever comes first. */
function stopAfter(ms: number, stop: AbortSignal): AbortSignal {
  const over = new AbortController();
  systemClock.sleep(ms, stop).then(
    () => over.abort(new StoppedError()),
    () => over.abort(stop.reason),
  );
  return over.signal;
}

/** Clears away the database of an earlier demo, unless one is still running or the file is somebody else's. */
function startAnew(host: Host): string {
  const path = prepareFolder(DATABASE);
  if (path !== join(realpathSync('.'), DATABASE)) {
    throw new UsageError(`${DATABASE} leads to ${path}, outside of this folder; remove that link first.`);
  }
  using _lock = acquireLock(path, { pid: host.pid, host: hostname(), since: formatInstant(systemClock.now()) });
  if (isForeign(path)) throw foreign(path);
  for (const companion of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${companion}`, { force: true });
  return path;
}

function explain(log: Log, forMs: number | undefined): void {
  log.info(
    `ask the database while this runs: sqlite3 -readonly ${DATABASE} "SELECT sport, count(*) FROM active_leagues GROUP BY sport"`,
  );
  log.info(`or without sqlite3: LEAGUE_SYNC_DATABASE=${DATABASE} npx league-sync query "SELECT * FROM freshness"`);
  log.info(forMs === undefined ? 'stop it with Ctrl-C' : `it ends by itself after ${formatDuration(forMs)}`);
}

function summarize(log: Log, path: string): void {
  const sql = `SELECT live_leagues, (SELECT count(*) FROM runs WHERE kind = 'leagues'), (SELECT count(*) FROM logins WHERE outcome = 'ok'),
    (SELECT count(*) FROM league_changes) FROM freshness`;
  const [leagues, polls, logins, changes] = runQuery(path, sql).rows[0] ?? [];
  log.info(`done: ${leagues} leagues listed after ${polls} polls and ${logins} logins, ${changes} changes recorded`);
  log.info(`the database is kept: ${path}`);
  log.info(
    `what changed: LEAGUE_SYNC_DATABASE=${DATABASE} npx league-sync query "SELECT at, league_name, field, old_value, new_value FROM league_field_changes"`,
  );
}
