import { cpSync, existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { askSqlite3, type Row, readRows, withDatabase } from '../../support/database.ts';
import { makeFolder } from '../../support/folder.ts';
import type { Exit } from '../../support/program.ts';
import { type Place, type SyscallBench, stateOf } from './bench.ts';
import { describeInjection, failing, type Injection } from './syscall.ts';

const DONE = 0;
const DATABASE = 74;
/** SQLite's own sidecar files of a database, and the lock. */
const OURS = /^leagues\.db(-wal|-shm|-journal|\.lock|\.lock-journal)?$/;
const STACK = /^\s+at .+:\d+/m;

/** Runs `sync` with calls that fail, checks what it leaves, and recovers by another one. Returns the exit code of the first. */
export async function meetInjection(bench: SyscallBench, injection: Injection): Promise<number | null> {
  const place = bench.place();
  const where = describeInjection(injection);
  const inode = inodeOf(place);
  const exit = await place.run('sync', failing(place.database, injection));
  expectDocumentedEnd(place, exit, where);
  expectNoOtherFile(place, inode, where);
  const left = look(place, where);
  expectTruth(bench, left, exit, where);
  await expectMended(bench, place, newRuns(bench, left), where);
  return exit.code;
}

/** Success, or a database error reported with its path and a fix; never a crash. */
export function expectDocumentedEnd({ database }: Place, { code, signal, stderr }: Exit, where: string): void {
  const what = `${where}\n${stderr}`;
  expect([DONE, DATABASE], what).toContain(code);
  expect(signal, what).toBeNull();
  expect(stderr, what).not.toMatch(STACK);
  if (code === DONE) return;
  const said = stderr.split('\n').filter((line) => line.startsWith('league-sync: '));
  expect(said, what).toHaveLength(1);
  expect(said[0], what).toContain(database);
  expect(said[0], what).toMatch(/; (check the disk|free some space|give the user \w+ write permission)/);
}

function expectNoOtherFile(place: Place, inode: number | undefined, where: string): void {
  expect(
    namesIn(place).filter((name) => !OURS.test(name)),
    where,
  ).toEqual([]);
  if (inode !== undefined) expect(inodeOf(place), where).toBe(inode);
}

function namesIn({ database }: Place): readonly string[] {
  return existsSync(dirname(database)) ? readdirSync(dirname(database)) : [];
}

function inodeOf({ database }: Place): number | undefined {
  return statSync(database, { throwIfNoEntry: false })?.ino;
}

/**
 * Inspects a copy of the files, as the next writer will find them. After a failed rollback of a first start, read-only
 * clients cannot read it; in all other states they can.
 */
function look(place: Place, where: string): Pick<Place, 'database'> {
  if (!existsSync(place.database)) return place;
  const { path: copy } = makeFolder();
  cpSync(dirname(place.database), copy, { recursive: true });
  const database = join(copy, basename(place.database));
  if (existsSync(`${database}-journal`)) rollBack(database);
  else expectSound(place, where);
  expectSound({ database }, where);
  return { database };
}

function rollBack(database: string): void {
  withDatabase(database, (db) => db.pragma('user_version'));
}

/** Checks the database in a separate process. */
export function expectSound({ database }: Pick<Place, 'database'>, where: string): void {
  if (!existsSync(database)) return;
  expect(askSqlite3(database, 'SELECT * FROM pragma_integrity_check'), where).toEqual([{ integrity_check: 'ok' }]);
  expect(askSqlite3(database, 'SELECT * FROM pragma_foreign_key_check'), where).toEqual([]);
}

/** Expects the old or the new list, complete, as the row of the run says. */
function expectTruth(bench: SyscallBench, { database }: Pick<Place, 'database'>, { code }: Exit, where: string): void {
  const state = stateOf(database);
  expect([bench.before, bench.after], where).toContain(state);
  const rows = newRuns(bench, { database });
  expect(rows.length, where).toBeLessThanOrEqual(1);
  const outcomes = rows.map(({ outcome }) => outcome);
  if (code === DONE) expect(outcomes, where).toEqual(['changed']);
  if (state === bench.after) expect(rows, where).toMatchObject([{ outcome: 'changed', ...bench.news }]);
  else for (const outcome of outcomes) expect(['running', 'failed'], where).toContain(outcome);
  for (const row of rows) expectWholeRow(row, where);
}

function newRuns({ lastRun }: SyscallBench, { database }: Pick<Place, 'database'>): readonly Row[] {
  const made = statSync(database, { throwIfNoEntry: false });
  if (made === undefined || made.size === 0) return [];
  if (readRows(database, "SELECT 1 FROM sqlite_schema WHERE name = 'runs'").length === 0) return [];
  return readRows(database, `SELECT * FROM runs WHERE id > ${lastRun} ORDER BY id`);
}

/** Expects a timestamp for an ended run, kind and message for a failed one, and neither for others. */
function expectWholeRow({ outcome, finished_at, error_kind, error_message }: Row, where: string): void {
  expect(finished_at === null, where).toBe(outcome === 'running');
  expect(error_kind, where).toBe(outcome === 'failed' ? 'database' : null);
  if (outcome === 'failed') expect(String(error_message), where).toMatch(/leagues\.db.*; /);
}

/** Expects that the next undisturbed sync catches up and leaves one file. */
async function expectMended(bench: SyscallBench, place: Place, runs: readonly Row[], where: string): Promise<void> {
  const { database } = place;
  const had = runs.map(({ outcome }) => outcome);
  const { code, stderr } = await place.run('sync');
  expect(code, `${where}, then a healthy sync\n${stderr}`).toBe(DONE);
  expect(stateOf(database), where).toBe(bench.after);
  const outcomes = newRuns(bench, place).map(({ outcome }) => outcome);
  const ended = had.map((outcome) => (outcome === 'running' ? 'interrupted' : outcome));
  expect(outcomes, where).toEqual([...ended, had.includes('changed') ? 'unchanged' : 'changed']);
  expect(readRows(database, "SELECT id FROM runs WHERE outcome = 'running'"), where).toEqual([]);
  expectSound(place, where);
  expect(namesIn(place), where).toEqual([basename(database)]);
}
