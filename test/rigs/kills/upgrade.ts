import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { expect } from 'vitest';
import { findPackage } from '../../../src/package.ts';
import { readMigrations } from '../../../src/store/migrate.ts';
import { type Bench, setUpFor } from '../../support/bench.ts';
import { killIfAlive } from '../../support/copy-process.ts';
import { execute, openConnection, type Row, readRows, withDatabase } from '../../support/database.ts';
import { makeFolder } from '../../support/folder.ts';
import type { RunningProgram } from '../../support/program.ts';
import { grantLogin, listLeagues, startService } from '../../support/service.ts';
import { DATABASE_OF_0_1_0, lastListOf } from '../../support/version-0.1.0.ts';
import { copierIn } from './moment.ts';
import { waitForCopiers } from './round.ts';

// Upgrades of a database of version 0.1.0 that are killed.

/** The steps of an upgrade, each of which begins with something that can be seen in the folder. */
const STEPS = ['start', 'copy', 'migration', 'end'] as const;
type Step = (typeof STEPS)[number];

type UpgradeKill = {
  readonly step: Step;
  /** How much of the usual duration of the step has passed. */
  readonly share: number;
  /** Whether the process that copies is killed, too, as by a loss of power; else it goes on for a while. */
  readonly withCopier: boolean;
  /** How the worker of version 0.1.0 ended: then its last rows are in the database or in the WAL. */
  readonly earlierWorker: 'stopped' | 'killed';
};

/** Where a kill hit, by what it left. */
type Place = 'before the copy' | 'in the copy' | 'before the commit' | 'in the migration' | 'after it' | 'too late';

/** Kills an upgrade, judges what is left, and starts the program again. */
type KillUpgrade = (kill: UpgradeKill) => Promise<Place>;

const NEWEST = readMigrations(findPackage().migrations).length;

/** Enough for a copy of some milliseconds, and a migration of some tens: its first statement reads every run. */
const CHANGES = 6_000;
const RUNS = 3_000;
/** The third statement reads them, so that a kill can hit between two statements. No league has one of these ids. */
const HELD = 20_000;
/** The numbers from 1 in the table `n`. */
const NUMBERS = Math.max(RUNS, HELD);

/** A change repeats the newest of its league, so that the feed still ends with the leagues as they are. */
const FILLING = `
  DELETE FROM held_removals;
  CREATE TEMP TABLE newest AS
    SELECT * FROM league_changes WHERE seq IN (SELECT max(seq) FROM league_changes GROUP BY league_id) AND after IS NOT NULL;
  CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${NUMBERS}) SELECT i FROM n;
  INSERT INTO league_changes (run_id, at, league_id, kind, before, after)
    SELECT run_id, at, league_id, 'changed', after, after FROM n, newest
    WHERE n.i <= ${CHANGES} / (SELECT count(*) FROM newest);
  INSERT INTO runs (kind, trigger, scope, started_at, finished_at, outcome, attempts, http_status, received, unchanged)
    SELECT 'leagues', 'schedule', 'all', '2026-11-22T10:45:00.000Z', '2026-11-22T10:45:00.100Z', 'unchanged', 1, 200, 40, 40
    FROM n WHERE i <= ${RUNS};
  INSERT INTO held_removals (league_id, first_run_id, held_since)
    SELECT 'league ' || i, 1, '2026-11-22T10:45:00.000Z' FROM n WHERE i <= ${HELD};`;
const LAST_ROW = `INSERT INTO runs (kind, trigger, scope, started_at, finished_at, outcome)
  VALUES ('leagues', 'schedule', 'all', '2026-11-22T10:46:00.000Z', '2026-11-22T10:46:00.100Z', 'failed')`;

/** Kills so many upgrades in each step, spread evenly over its usual duration; returns how many hit which place. */
export async function killUpgrades(kills: Readonly<Record<Step, number>>): Promise<ReadonlyMap<Place, number>> {
  const killUpgrade = await setUp();
  const moments = STEPS.flatMap((step) =>
    Array.from({ length: kills[step] }, (_, nth) => ({ step, share: (nth + 0.5) / kills[step] })),
  );
  const hits = new Map<Place, number>();
  for (const [nth, moment] of moments.entries()) {
    const earlierWorker = nth % 4 < 2 ? 'stopped' : 'killed';
    const place = await killUpgrade({ ...moment, withCopier: nth % 2 === 0, earlierWorker });
    hits.set(place, (hits.get(place) ?? 0) + 1);
  }
  return hits;
}

/** Makes the database, and upgrades it once without a kill. */
async function setUp(): Promise<KillUpgrade> {
  const originals = makeOriginals();
  const leagues = lastListOf(originals.stopped);
  const login = grantLogin({ access_token: 'token-of-upgrades' });
  const { url } = await startService({ login, leagues: listLeagues(leagues) });
  const bench = setUpFor(url);
  const { database } = bench;
  const place = (earlierWorker: UpgradeKill['earlierWorker']): void => {
    rmSync(dirname(database), { recursive: true, force: true });
    mkdirSync(dirname(database));
    copyDatabase(originals[earlierWorker], database);
  };
  place('stopped');
  const durations = await measureSteps(bench);
  const schemas = { 1: readRows(originals.stopped, SCHEMA), [NEWEST]: readRows(database, SCHEMA) };
  const judge = createJudge(originals.stopped, schemas);
  judge(database, [NEWEST]);
  return async ({ step, share, withCopier, earlierWorker }) => {
    place(earlierWorker);
    const program = bench.start(['sync']);
    await reach(step, program, database);
    await rest(share * durations[step]);
    const copier = withCopier ? copierIn(program) : undefined;
    const { signal } = await program.stop('SIGKILL');
    if (copier !== undefined) killIfAlive(copier);
    const hit = judgeRemains(database, judge);
    expect(await bench.runProcess(['sync'])).toMatchObject({ code: 0 });
    judge(database, [NEWEST]);
    if (hit !== 'after it') judge(copyOf(database), [1]);
    expect(existsSync(`${database}-journal`)).toBe(false);
    expect(statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
    await waitForCopiers(bench);
    return signal === 'SIGKILL' ? hit : 'too late';
  };
}

function makeOriginals(): Readonly<Record<UpgradeKill['earlierWorker'], string>> {
  const folder = makeFolder();
  const originals = { stopped: folder.file('stopped.db'), killed: folder.file('killed.db') };
  const working = folder.file('working.db');
  copyFileSync(DATABASE_OF_0_1_0, working);
  execute(working, FILLING);
  const worker = openConnection(working);
  worker.pragma('journal_mode = WAL');
  worker.exec(LAST_ROW);
  copyDatabase(working, originals.killed);
  worker.pragma('journal_mode = DELETE');
  copyDatabase(working, originals.stopped);
  return originals;
}

/** Copies a database with what a killed program has left beside it. */
function copyDatabase(from: string, to: string): void {
  for (const suffix of ['', '-journal', '-wal'])
    if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
}

const copyOf = (database: string): string => `${database}.schema-1`;

async function measureSteps(bench: Bench): Promise<Readonly<Record<Step, number>>> {
  const program = bench.start(['sync']);
  const begins: number[] = [];
  for (const step of STEPS) {
    await reach(step, program, bench.database);
    begins.push(performance.now());
  }
  expect(await program.waitForExit()).toMatchObject({ code: 0 });
  begins.push(performance.now());
  const durationOf = (index: number): number => Number(begins[index + 1]) - Number(begins[index]);
  return { start: durationOf(0), copy: durationOf(1), migration: durationOf(2), end: durationOf(3) };
}

/** Waits until the step has begun; returns early if the program has ended. */
async function reach(step: Step, program: RunningProgram, database: string): Promise<void> {
  const log = statSync(`${database}-wal`, { throwIfNoEntry: false })?.mtimeMs;
  const hasBegun: Readonly<Record<Step, () => boolean>> = {
    start: () => true,
    copy: () => partsOf(database).length > 0,
    migration: () => existsSync(copyOf(database)),
    // Only the migration writes to a WAL that was left.
    end: () => isMigrated(database) || statSync(`${database}-wal`, { throwIfNoEntry: false })?.mtimeMs !== log,
  };
  // Sleeps, since a busy loop would slow the program down, and only here.
  while (program.alive() && !hasBegun[step]()) await rest(1);
}

function partsOf(database: string): readonly string[] {
  return readdirSync(dirname(database)).filter((name) => name.includes('league-sync-part'));
}

const USER_VERSION_AT = 60;

/** Whether the header of the file has the new version. */
function isMigrated(database: string): boolean {
  const file = openSync(database, 'r');
  const version = Buffer.alloc(4);
  readSync(file, version, 0, version.length, USER_VERSION_AT);
  closeSync(file);
  return version.readUInt32BE() === NEWEST;
}

type Schema = readonly Row[];

const SCHEMA = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name';
/** The program rewrites this table, and with the first poll the hashes in this column. */
const [REWRITTEN, RENEWED] = ['data_dictionary', 'content_hash'];
/** A program that goes on after the migration adds to these tables. */
const GROWING = new Set(['schema_migrations', 'runs', 'logins']);

type Difference = { readonly name: string; readonly lost: number; readonly more: number };

/** Expects an intact database with one of these versions and every row of the original; returns the version. */
type Judge = (path: string, versions: readonly number[]) => number;

function createJudge(original: string, schemas: Readonly<Record<number, Schema>>): Judge {
  const tables = readRows(original, "SELECT name FROM sqlite_schema WHERE type = 'table'")
    .map(({ name }) => String(name))
    .filter((name) => name !== REWRITTEN);
  const comparisons = tables.map((table) => {
    const columns = readRows(original, `SELECT name FROM pragma_table_info('${table}')`).map(({ name }) =>
      String(name),
    );
    const kept = columns.filter((column) => column !== RENEWED).map((column) => `old."${column}" IS new."${column}"`);
    const same = `SELECT count(*) FROM original."${table}" AS old JOIN main."${table}" AS new ON new.rowid = old.rowid WHERE ${kept.join(' AND ')}`;
    const lost = `(SELECT count(*) FROM original."${table}") - (${same})`;
    const more = `(SELECT count(*) FROM main."${table}") - (SELECT count(*) FROM original."${table}")`;
    return `SELECT '${table}' AS name, ${lost} AS lost, ${more} AS more`;
  });
  return (path, versions) =>
    withDatabase(path, (db) => {
      expect(db.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      const version = Number(db.pragma('user_version', { simple: true }));
      expect(versions).toContain(version);
      expect(db.prepare(SCHEMA).all()).toEqual(schemas[version]);
      db.prepare('ATTACH ? AS original').run(original);
      const found = db.prepare<[], Difference>(comparisons.join(' UNION ALL ')).all();
      expect(found.filter(({ lost }) => lost > 0)).toEqual([]);
      expect(found.filter(({ name, more }) => more > 0 && !GROWING.has(name))).toEqual([]);
      return version;
    });
}

/** Judges the database, as the next program would find it, and the copy; returns where the kill hit. */
function judgeRemains(database: string, judge: Judge): Place {
  // The remains themselves are left to the next start.
  const same = `${dirname(dirname(database))}/remains.db`;
  copyDatabase(database, same);
  const [hasCopy, isInMigration] = [existsSync(copyOf(database)), existsSync(`${database}-journal`)];
  const hasPart = partsOf(database).length > 0;
  const version = judge(same, [1, NEWEST]);
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(same + suffix, { force: true });
  // Before the copy has its name, nothing may have been migrated.
  if (hasCopy) judge(copyOf(database), [1]);
  else expect(version).toBe(1);
  if (version === NEWEST) return 'after it';
  if (isInMigration) return 'in the migration';
  if (hasCopy) return 'before the commit';
  return hasPart ? 'in the copy' : 'before the copy';
}
