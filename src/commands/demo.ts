import { dirname } from 'node:path';
import { type Config, loadConfig, loadLogConfig } from '../config/config.ts';
import { readSettings } from '../config/environment.ts';
import { DatabaseError, EXIT, StoppedError } from '../errors.ts';
import type { Log } from '../log.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { withOwnReader } from '../store/connection.ts';
import { exists } from '../store/copy.ts';
import { deleteDemoDatabase, describeNonDemoFile, describeUnexpectedType } from '../store/demo-mark.ts';
import { findRange, readPage } from '../store/queries/feed.ts';
import { runQuery } from '../store/queries/sql.ts';
import type { Listener } from '../sync/report.ts';
import { escapeControls } from '../terminal/style.ts';
import { formatDuration } from '../time/duration.ts';
import { createCopyProcess } from '../worker/copy-process.ts';
import { runWorker } from '../worker/worker.ts';
import { describeFields, nameBefore } from './change-text.ts';
import type { Command, ProcessIO } from './command.ts';

const DATABASE = 'demo-data/leagues.db';
/** The default of LEAGUE_SYNC_LISTEN; if its port is in use, any free port. */
const PAGE = { host: '127.0.0.1', port: 9464, orAnyPort: true } as const;
/** Short, so that the demo shows renewals of the token. */
const TOKEN_LIFE_MS = 6_000;
const CHURN_MS = 1_500;
const ACCOUNT = { username: 'demo', password: 'demo-password' } as const;
/** The maximum number of changes logged per poll. Without it, the first poll would log every league. */
const MAX_LOGGED = 5;

/** Reads no settings except those of the log. */
export const demo: Command<{ readonly for?: number }> = async (io, { for: forMs }) => {
  const log = await io.openLog(loadLogConfig(readSettings(io.environment)), 1);
  assertFilesReplaceable();
  await using simulator = await startSimulator({ ...ACCOUNT, tokenLifeMs: TOKEN_LIFE_MS, churnMs: CHURN_MS });
  await runWorker(configFor(simulator.url, io), {
    log,
    pid: io.pid,
    signal: forMs === undefined ? io.stop : stopAfter(forMs, io.stop),
    onPollNow: io.onHangup,
    copy: createCopyProcess(io),
    demo: { prepare: () => logIntroduction(log, deleteEarlierDemo(), forMs), note: createFeedLog(log) },
  });
  logSummary(log);
  return EXIT.done;
};

function configFor(url: string, io: ProcessIO): Config {
  const settings = {
    LEAGUE_SYNC_BASE_URL: url,
    LEAGUE_SYNC_USERNAME: ACCOUNT.username,
    LEAGUE_SYNC_PASSWORD: ACCOUNT.password,
    LEAGUE_SYNC_DATABASE: DATABASE,
    LEAGUE_SYNC_SCHEDULE: '*/2 * * * * *',
    LEAGUE_SYNC_PROFILE_SCHEDULE: '*/10 * * * * *',
  };
  return { ...loadConfig(readSettings(settings), io.environment), listen: PAGE };
}

/** Stops after 24 days at the latest, since setTimeout fires at once if its delay is longer. */
function stopAfter(ms: number, stop: AbortSignal): AbortSignal {
  const timer = new AbortController();
  setTimeout(() => timer.abort(new StoppedError()), Math.min(ms, 2 ** 31 - 1)).unref();
  return AbortSignal.any([stop, timer.signal]);
}

/** The lines are short, so that they fit narrow terminals. */
function logIntroduction(log: Log, hadOne: boolean, forMs: number | undefined): void {
  const [life, churn] = [formatDuration(TOKEN_LIFE_MS), formatDuration(CHURN_MS)];
  log.info('demo: a simulated service, and a worker that polls it');
  log.info(`tokens live ${life}, leagues change every ${churn}`);
  log.info(`database: ${DATABASE}${hadOne ? ' (replaces that of an earlier demo)' : ''}`);
  log.info(`query it: sqlite3 -readonly ${DATABASE}`);
  log.info(forMs === undefined ? 'stop with Ctrl-C' : `stops by itself after ${formatDuration(forMs)}`);
}

function logSummary(log: Log): void {
  const sql = `SELECT live_leagues, (SELECT count(*) FROM runs WHERE kind = 'leagues'), (SELECT count(*) FROM logins WHERE outcome = 'ok'),
    (SELECT count(*) FROM league_changes) FROM freshness`;
  const [leagues, polls, logins, changes] = runQuery(DATABASE, sql).rows[0] ?? [];
  log.info(`done: leagues ${leagues}, polls ${polls}, logins ${logins}, changes ${changes}`);
  log.info(`the database is kept: ${DATABASE}`);
  log.info(`what changed: LEAGUE_SYNC_DATABASE=${DATABASE} npx league-sync changes`);
}

/** Logs the changes of each poll. Reads them from the change feed, as any other tool could. */
function createFeedLog(log: Log): Listener {
  let seq = 0;
  return (event) => {
    if (event.type !== 'runEnded' || event.report.kind !== 'leagues' || !event.report.wrote) return;
    const { range, entries } = withOwnReader(DATABASE, (db) => {
      const after = findRange(db, { afterSeq: seq });
      return { range: after, ...readPage(db, after, { limit: MAX_LOGGED, fields: true }) };
    });
    for (const entry of entries) {
      const what = describeFields(entry.fields);
      log.info(escapeControls(`  ${entry.kind}: ${nameBefore(entry)}${what && `, ${what}`}`));
    }
    const more = range.last - (entries.at(-1)?.seq ?? range.last);
    if (more > 0) log.info(`  … and ${more} more`);
    seq = range.last;
  };
}

function assertFilesReplaceable(): void {
  assertReplaceable(dirname(DATABASE), describeUnexpectedType(dirname(DATABASE), 'folder'));
  assertReplaceable(DATABASE, describeUnexpectedType(DATABASE, 'file'));
}

/** Must be called with the lock held. Returns whether a database existed. Throws a DatabaseError if no demo made it. */
function deleteEarlierDemo(): boolean {
  assertFilesReplaceable();
  assertReplaceable(DATABASE, describeNonDemoFile(DATABASE));
  const hadOne = exists(DATABASE);
  deleteDemoDatabase(DATABASE);
  return hadOne;
}

function assertReplaceable(path: string, what: string | undefined): void {
  if (what === undefined) return;
  const files = ['', '-wal', '-shm', '-journal'].map((suffix) => path + suffix).filter(exists);
  throw new DatabaseError(`${path} is ${what}. A demo deletes only what a demo made, so it was left as it is.`, {
    fix: `delete or move ${files.join(', ')}, or start the demo in another folder`,
  });
}
