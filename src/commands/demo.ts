import { dirname } from 'node:path';
import { systemClock } from '../clock.ts';
import { type Config, loadConfig, loadLogConfig } from '../config/config.ts';
import { readSettings } from '../config/environment.ts';
import { formatDuration } from '../duration.ts';
import { DatabaseError, EXIT, StoppedError } from '../errors.ts';
import type { Log } from '../log.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { withOwnReader } from '../store/connection.ts';
import { isThere } from '../store/copy.ts';
import { clearAway, findOddity, findOwnersFile } from '../store/demo-mark.ts';
import { findStretch, readPage } from '../store/queries/feed.ts';
import { runQuery } from '../store/queries/sql.ts';
import type { Listener } from '../sync/events.ts';
import { visible } from '../terminal/style.ts';
import { createCopy } from '../worker/copier.ts';
import { runWorker } from '../worker/worker.ts';
import { describeFields } from './change-line.ts';
import type { Command, Host } from './host.ts';

const DATABASE = 'demo-data/leagues.db';
/** Where the page of a worker is by default, so that the documents are right for the demo, too. */
const PAGE = { host: '127.0.0.1', port: 9464, orAnyPort: true } as const;
/** Short enough that a few seconds show a renewal, long enough to be read. */
const TOKEN_LIFE_MS = 6_000;
const CHURN_MS = 1_500;
const USERNAME = 'demo';
const PASSWORD = 'demo-password';
/** The first poll adds every league there is. */
const MOST_SHOWN = 5;

/** Simulated service and worker in one process, from an empty database. Reads no settings but those of the log. */
export const demo: Command<{ readonly forMs?: number }> = async (host, { forMs }) => {
  const log = await host.openLog(loadLogConfig(readSettings(host.environment)), 1);
  refuseOddPlace();
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
      prepare: () => explain(log, { hadOne: makeRoom(), forMs }),
      note: createFeedLog(log),
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

/** Follows each poll with what it changed, a line each, read from the change feed as any other tool would. */
function createFeedLog(log: Log): Listener {
  let seq = 0;
  return (event) => {
    if (event.type !== 'runEnded' || event.report.kind !== 'leagues' || !event.report.wrote) return;
    const { stretch, entries } = withOwnReader(DATABASE, (db) => {
      const found = findStretch(db, { afterSeq: seq });
      return { stretch: found, entries: readPage(db, found, { most: MOST_SHOWN, fields: true }) };
    });
    for (const { kind, league_name, fields } of entries) {
      const what = describeFields(fields);
      log.info(visible(`  ${kind}: ${league_name}${what && `, ${what}`}`));
    }
    const more = stretch.last - (entries.at(-1)?.seq ?? stretch.last);
    if (more > 0) log.info(`  … and ${more} more`);
    seq = stretch.last;
  };
}

/** Throws a DatabaseError if what is there is no folder, or no file. Makes nothing. */
function refuseOddPlace(): void {
  refuse(dirname(DATABASE), findOddity(dirname(DATABASE), 'folder'));
  refuse(DATABASE, findOddity(DATABASE, 'file'));
}

/**
 * Deletes the database of an earlier demo, and says whether there was one. Throws a DatabaseError if anything else is
 * there, and leaves it as it is. To be called under the lock.
 */
function makeRoom(): boolean {
  refuseOddPlace();
  refuse(DATABASE, findOwnersFile(DATABASE));
  const hadOne = isThere(DATABASE);
  clearAway(DATABASE);
  return hadOne;
}

function refuse(path: string, what: string | undefined): void {
  if (what === undefined) return;
  const files = ['', '-wal', '-shm', '-journal'].map((suffix) => path + suffix).filter(isThere);
  throw new DatabaseError(`${path} is ${what}. A demo deletes only what a demo made, so it is left as it is.`, {
    fix: `delete or move ${files.join(', ')}, or start the demo in another folder`,
  });
}
