import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Config, loadConfig, loadLogConfig } from '../config/config.ts';
import { readSettings } from '../config/read-environment.ts';
import { DatabaseError, EXIT, StoppedError } from '../errors.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { exists } from '../store/atomic-copy.ts';
import { withOwnReader } from '../store/connection.ts';
import { explainErrors } from '../store/database-error.ts';
import { deleteDemoDatabase, isDemoOrMissing } from '../store/demo-mark.ts';
import { type Change, findRange, readBatch } from '../store/queries/feed.ts';
import { runQuery } from '../store/queries/user-query.ts';
import type { RunReport } from '../sync/report.ts';
import { isPipe, PLAIN } from '../terminal/style.ts';
import { formatDuration } from '../time/duration.ts';
import { runWorker } from '../worker/worker.ts';
import type { Command, ProcessIO } from './command.ts';
import { type Block, createNarration } from './demo-text.ts';
import { surroundingsOf } from './run.ts';

const DATABASE = 'demo-data/leagues.db';
/** The default of LEAGUE_SYNC_LISTEN; if its port is in use, any free port. */
const PAGE = { host: '127.0.0.1', port: 9464, orAnyPort: true } as const;
/** Short, so that the demo shows renewals of the token. */
const TOKEN_LIFE_MS = 6_000;
const CHURN_MS = 1_500;
const ACCOUNT = { username: 'demo', password: 'demo-password' } as const;
/** The maximum number of leagues named per poll; the first poll adds all of them. */
const MAX_TOLD = 5;

/** Reads no settings except those of the log. */
export const demo: Command<{ readonly for?: number }> = async (io, { for: forMs }) => {
  const { log, open, tell, close } = await openNarration(io);
  assertFilesReplaceable();
  await using simulator = await startSimulator({ ...ACCOUNT, tokenLifeMs: TOKEN_LIFE_MS, churnMs: CHURN_MS });
  const readChanges = createFeedReader();
  let hadOne = false;
  await runWorker(configFor(simulator.url, io), {
    ...surroundingsOf(io),
    log,
    signal: forMs === undefined ? io.stop : stopAfter(forMs, io.stop),
    demo: {
      prepare: () => {
        hadOne = deleteEarlierDemo();
      },
      onPage: (page) => void open(introduce(page, { service: simulator.url, hadOne, forMs })),
      note: (event) => {
        if (event.type === 'runEnded' && event.report.kind === 'leagues') tell(event.report, readChanges(event.report));
      },
    },
  });
  await close(summarize());
  return EXIT.done;
};

/** At a terminal, the narration replaces the log but for errors: it tells why polls fail, and what they hold. */
async function openNarration(io: ProcessIO) {
  const settings = readSettings(io.environment);
  const config = loadLogConfig(settings);
  const terminal = config.format === 'json' ? PLAIN : io.terminal;
  const isQuiet = !isPipe(terminal) && settings.values.LEAGUE_SYNC_LOG_LEVEL === undefined;
  const log = await io.openLog(isQuiet ? { ...config, level: 'error' } : config, 1);
  return { log, ...createNarration(io, { log, terminal, acceptRemovals: commandFor('accept-removals') }) };
}

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

function stopAfter(ms: number, stop: AbortSignal): AbortSignal {
  const timer = new AbortController();
  setTimeout(() => timer.abort(new StoppedError()), ms).unref();
  return AbortSignal.any([stop, timer.signal]);
}

type Introduced = { readonly service: string; readonly hadOne: boolean; readonly forMs: number | undefined };

function introduce(page: string, { service, hadOne, forMs }: Introduced): Block {
  return [
    ['page', page],
    ['database', `${DATABASE}${hadOne ? ' (that of an earlier demo was deleted)' : ''}`],
    ['stop', forMs === undefined ? 'Ctrl-C' : `Ctrl-C, or wait ${formatDuration(forMs)}`],
    ['try', commandFor('status')],
    ['', commandFor('changes --follow')],
    ['trouble', `curl -X PUT ${service}/_faults/drop-third`],
  ];
}

function summarize(): Block {
  const sql = `SELECT live_leagues, (SELECT count(*) FROM runs WHERE kind = 'leagues'), (SELECT count(*) FROM logins WHERE outcome = 'ok'),
    (SELECT count(*) FROM league_changes) FROM freshness`;
  const [leagues, polls, logins, changes] = runQuery(DATABASE, sql).rows[0] ?? [];
  return [
    ['stopped', `leagues ${leagues}, polls ${polls}, logins ${logins}, changes ${changes}`],
    ['kept', `${DATABASE}, until the next demo`],
    ['next', commandFor('changes')],
    ['', commandFor('status')],
    ['for real', 'league-sync check'],
  ];
}

function commandFor(command: string): string {
  return `league-sync ${command} --database ${DATABASE}`;
}

/** Gives the first changes of each poll. Reads them from the change feed, as any other tool could. */
function createFeedReader() {
  let seq = 0;
  return ({ wrote }: RunReport): readonly Change[] => {
    if (!wrote) return [];
    return withOwnReader(DATABASE, (db) => {
      const range = findRange(db, { afterSeq: seq });
      seq = range.last;
      return readBatch(db, range, { limit: MAX_TOLD }).entries;
    });
  };
}

function assertFilesReplaceable(): void {
  const look = (path: string) => explainErrors(path, () => lstatSync(path, { throwIfNoEntry: false }));
  assertReplaceable(dirname(DATABASE), look(dirname(DATABASE))?.isDirectory());
  assertReplaceable(DATABASE, look(DATABASE)?.isFile());
}

/** Must be called with the lock held. Returns whether a database existed. Throws a DatabaseError if no demo made it. */
function deleteEarlierDemo(): boolean {
  assertFilesReplaceable();
  assertReplaceable(DATABASE, isDemoOrMissing(DATABASE));
  const hadOne = exists(DATABASE);
  deleteDemoDatabase(DATABASE);
  return hadOne;
}

function assertReplaceable(path: string, isReplaceable = true): void {
  if (isReplaceable) return;
  const files = ['', '-wal', '-shm', '-journal'].map((suffix) => path + suffix).filter(exists);
  const message = `${path} was not made by this version's demo, or a worker has written to it since.`;
  throw new DatabaseError(`${message} A demo deletes only what a demo made, so it was left as it is.`, {
    fix: `delete or move ${files.join(', ')}, or start the demo in another folder`,
  });
}
