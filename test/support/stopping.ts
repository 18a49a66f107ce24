import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'vitest';
import type { Bench } from './bench.ts';
import { askSqlite3 } from './database.ts';
import type { LogLine, RunningProgram } from './program.ts';

/** What the contract allows a stop to take. */
export const LONGEST_STOP_MS = 10_000;

export const STOPPING = 'stopping: finishing the current work';

/** Stops a worker and expects that it ends in time, with 0, and that its last line says so. Gives what it logged since. */
export async function expectStop(
  worker: RunningProgram,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<readonly LogLine[]> {
  const earlier = worker.log().length;
  const askedAt = performance.now();
  const { code, stderr, stdout } = await worker.stop(signal);
  expect(performance.now() - askedAt).toBeLessThan(LONGEST_STOP_MS);
  expect([code, stderr]).toEqual([0, '']);
  // What is cut off within a line is not in the log.
  expect(stdout.endsWith('}\n')).toBe(true);
  const ends = worker.log().filter(({ msg }) => /^stopped\b/.test(String(msg)));
  expect(ends).toEqual(worker.log().slice(-1));
  return worker.log().slice(earlier);
}

/** The same, and that one file is left that any tool can open and that says of every run how it ended. */
export async function expectCleanStop(
  { database }: Bench,
  worker: RunningProgram,
  signal?: NodeJS.Signals,
): Promise<readonly LogLine[]> {
  const lines = await expectStop(worker, signal);
  expectInOrder(database);
  return lines;
}

export function expectInOrder(database: string): void {
  expect(readdirSync(dirname(database)).filter((name) => /^leagues\.db(?!\.schema)/.test(name))).toEqual([
    'leagues.db',
  ]);
  expect(askSqlite3(database, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(askSqlite3(database, 'PRAGMA journal_mode')).toEqual([{ journal_mode: 'delete' }]);
  expect(askSqlite3(database, "SELECT id FROM runs WHERE outcome = 'running'")).toEqual([]);
}

/** The words of log lines. */
export function wordsOf(lines: readonly LogLine[]): readonly string[] {
  return lines.map(({ msg }) => String(msg));
}
