import { createHash } from 'node:crypto';
import { cpSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Bench, setUpFor } from '../../support/bench.ts';
import { type Row, readRows } from '../../support/database.ts';
import { makeFolder } from '../../support/folder.ts';
import { makeLeague } from '../../support/leagues.ts';
import { eventually, runProgram } from '../../support/program.ts';
import { grantLogin, hang, listLeagues, type Service, startService } from '../../support/service.ts';
import { counting, countsIn } from './syscall.ts';

/** The files before the program starts. */
export const STARTS = ['no database', 'the old list', 'the log of a killed worker'] as const;
export type Start = (typeof STARTS)[number];

export type SyscallBench = Awaited<ReturnType<typeof setUpSyscalls>>;
/** A folder to start the program in. */
export type Place = ReturnType<typeof makePlace>;

const LEAGUES = 300;
/** Few enough to pass the guard. */
const GONE = 5;

/** Every third league of the old list changes, the last ones disappear, and a hundred are new. */
const OLD = Array.from({ length: LEAGUES }, (_, index) => makeLeague(`l${index}`));
const CHANGED = OLD.slice(GONE).filter((_, index) => index % 3 === 0);
const ADDED = Array.from({ length: LEAGUES / 3 }, (_, index) => makeLeague(`n${index}`));
const NEW = [...OLD.slice(GONE).map((league) => (CHANGED.includes(league) ? alter(league) : league)), ...ADDED];

function alter(league: Row): Row {
  return { ...league, sport: 'chess', city: 'a town whose name is long enough to want some room' };
}

/** A service with a new list, and databases that do not have it yet. */
export async function setUpSyscalls(start: Start) {
  // Always the same token, since every file is searched for every token.
  const login = grantLogin({ access_token: 'the-one-token' });
  const service = await startService({ login, leagues: listLeagues(OLD) });
  const bench = setUpFor(service.url);
  if (start !== 'no database') expect((await bench.run(['sync'])).code).toBe(0);
  if (start === 'the log of a killed worker') await killWithinRequest(bench, service);
  service.script('leagues', listLeagues(NEW));
  /** Creates a folder with the initial files. */
  const place = () => makePlace(bench, start !== 'no database');
  return { place, ...(await tryOut(place)) };
}

async function tryOut(place: () => Place) {
  const { database, run } = place();
  /** The results of `stateOf` before a sync, and after an undisturbed one. */
  const before = stateOf(database);
  /** The last id in `runs` before the test. */
  const lastRun = before === EMPTY ? 0 : Number(readRows(database, 'SELECT max(id) AS id FROM runs')[0]?.id);
  const { path: counted } = makeFolder();
  expect((await run('sync', counting(database, counted))).code).toBe(0);
  const after = stateOf(database);
  expect(after).not.toBe(before);
  /** The expected counts of the run that stores the new list. */
  const news: Row =
    before === EMPTY
      ? { added: NEW.length, changed: 0, removed: 0 }
      : { added: ADDED.length, changed: CHANGED.length, removed: GONE };
  return { before, after, lastRun, news, counts: countsIn(counted) };
}

async function killWithinRequest(bench: Bench, { seen, script }: Service): Promise<void> {
  script('leagues', hang());
  const worker = bench.start(['run']);
  await worker.waitForLog(({ msg }) => String(msg).includes('no poll at start'));
  const before = seen('leagues').length;
  worker.send('SIGHUP');
  await eventually('the leagues are asked for', () => seen('leagues').length > before);
  expect((await worker.stop('SIGKILL')).signal).toBe('SIGKILL');
  expect(statSync(`${bench.database}-wal`).size).toBeGreaterThan(0);
}

function makePlace(bench: Bench, filled: boolean) {
  const { path: cwd } = makeFolder();
  const data = join(cwd, 'data');
  if (filled) cpSync(join(bench.folder, 'data'), data, { recursive: true });
  const { env } = bench;
  return {
    database: join(data, 'leagues.db'),
    /** Runs a command to its end, with this prefix. */
    run: (command: string, through: readonly string[] = []) => runProgram([command], { cwd, env, through }),
  };
}

/** The state of an empty or missing file. */
const EMPTY = 'nothing';

/** A text that is equal for two databases with the same leagues and the same feed, regardless of timestamps. */
export function stateOf(database: string): string {
  if ((statSync(database, { throwIfNoEntry: false })?.size ?? 0) === 0) return EMPTY;
  if (readRows(database, 'SELECT 1 FROM sqlite_schema').length === 0) return EMPTY;
  const leagues = readRows(database, 'SELECT * FROM leagues ORDER BY league_id').map(
    ({ first_seen_at: _first, changed_at: _changed, removed_at, ...league }) => [league, removed_at === null],
  );
  const feed = readRows(database, 'SELECT league_id, kind, before, after FROM league_changes ORDER BY seq');
  if (leagues.length + feed.length === 0) return EMPTY;
  return createHash('sha256')
    .update(JSON.stringify([leagues, feed]))
    .digest('hex');
}
