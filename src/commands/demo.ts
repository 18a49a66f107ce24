import { systemClock } from '../clock.ts';
import { type Config, loadConfig, loadLogConfig } from '../config/config.ts';
import { readSettings } from '../config/environment.ts';
import { formatDuration } from '../duration.ts';
import { EXIT, StoppedError } from '../errors.ts';
import type { Log } from '../log.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { runQuery } from '../store/queries/sql.ts';
import { createCopy } from '../worker/copier.ts';
import { runWorker } from '../worker/worker.ts';
import { createFeedLog } from './demo-feed.ts';
import { makeRoom, refuseOddPlace } from './demo-place.ts';
import type { Command, Host } from './host.ts';

const DATABASE = 'demo-data/leagues.db';
/** Where the page of a worker is by default, so that the documents are right for the demo, too. */
const PAGE = { host: '127.0.0.1', port: 9464, orAnyPort: true } as const;
/** Short enough that a few seconds show a renewal, long enough to be read. */
const TOKEN_LIFE_MS = 6_000;
const CHURN_MS = 1_500;
const USERNAME = 'demo';
const PASSWORD = 'demo-password';

/** Simulated service and worker in one process, from an empty database. Reads no settings but those of the log. */
export const demo: Command<{ readonly forMs?: number }> = async (host, { forMs }) => {
  const log = await host.openLog(loadLogConfig(readSettings(host.environment)), 1);
  refuseOddPlace(DATABASE);
  await using simulator = await startSimulator({
    username: USERNAME,
    password: PASSWORD,
    tokenLifeMs: TOKEN_LIFE_MS,
    churnMs: CHURN_MS,
  });
  await runWorker(configFor(simulator.url, host), {
    log,
    pid: host.pid,
    signal: forMs === undefined ? host.stop : stopAfter(forMs, host.stop),
    onPollNow: host.onHangup,
    copy: createCopy(host),
    demo: {
      prepare: () => explain(log, { hadOne: makeRoom(DATABASE), forMs }),
      note: createFeedLog(DATABASE, log),
    },
  });
  summarize(log);
  return EXIT.done;
};

function configFor(url: string, host: Host): Config {
  const settings = {
    LEAGUE_SYNC_BASE_URL: url,
    LEAGUE_SYNC_USERNAME: USERNAME,
    LEAGUE_SYNC_PASSWORD: PASSWORD,
    LEAGUE_SYNC_DATABASE: DATABASE,
    LEAGUE_SYNC_SCHEDULE: '*/2 * * * * *',
    LEAGUE_SYNC_PROFILE_SCHEDULE: '*/10 * * * * *',
  };
  return { ...loadConfig(readSettings(settings), host.environment), listen: PAGE };
}

/** Aborts when the time is over or when the operator stops the demo, whichever comes first. */
function stopAfter(ms: number, stop: AbortSignal): AbortSignal {
  const over = new AbortController();
  systemClock.sleep(ms, stop).then(
    () => over.abort(new StoppedError()),
    () => over.abort(stop.reason),
  );
  return over.signal;
}

type Beginning = { readonly hadOne: boolean; readonly forMs: number | undefined };

/** In short lines: a terminal may be narrow, and this is what a newcomer reads. */
function explain(log: Log, { hadOne, forMs }: Beginning): void {
  const [life, churn] = [formatDuration(TOKEN_LIFE_MS), formatDuration(CHURN_MS)];
  log.info('demo: a simulated service, and a worker that polls it');
  log.info(`tokens live ${life}, leagues change every ${churn}`);
  log.info(`database: ${DATABASE}${hadOne ? ' (an earlier demo was there)' : ''}`);
  log.info(`ask it: sqlite3 -readonly ${DATABASE}`);
  log.info(forMs === undefined ? 'stop with Ctrl-C' : `ends by itself after ${formatDuration(forMs)}`);
}

function summarize(log: Log): void {
  const sql = `SELECT live_leagues, (SELECT count(*) FROM runs WHERE kind = 'leagues'), (SELECT count(*) FROM logins WHERE outcome = 'ok'),
    (SELECT count(*) FROM league_changes) FROM freshness`;
  const [leagues, polls, logins, changes] = runQuery(DATABASE, sql).rows[0] ?? [];
  log.info(`done: leagues ${leagues}, polls ${polls}, logins ${logins}, changes ${changes}`);
  log.info(`the database is kept: ${DATABASE}`);
  log.info(`what changed: LEAGUE_SYNC_DATABASE=${DATABASE} npx league-sync changes`);
}
