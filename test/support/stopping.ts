import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'vitest';
import type { Bench } from './bench.ts';
import { askSqlite3 } from './database.ts';
import type { Exit, LogLine, RunningProgram } from './program.ts';

/** The maximum duration of a stop by the contract. */
export const LONGEST_STOP_MS = 10_000;

export const STOPPING = 'stopping: finishing the current work';

export async function stopInTime(program: RunningProgram): Promise<Exit> {
  const askedAt = performance.now();
  const exit = await program.stop();
  expect(performance.now() - askedAt).toBeLessThan(LONGEST_STOP_MS);
  return exit;
}

/**
 * Stops a worker, and expects an exit in time, with 0 and the right last line. Returns the log lines since the signal.
 */
export async function expectStop(worker: RunningProgram): Promise<readonly LogLine[]> {
  const earlier = worker.log().length;
  const { code, stderr, stdout } = await stopInTime(worker);
  // strace, which slows some of these workers down, tells of itself there on a busy machine.
  expect([code, stderr.replaceAll(/^strace: .*\n/gm, '')]).toEqual([0, '']);
  // A truncated last line would not be in the log.
  expect(stdout.endsWith('}\n')).toBe(true);
  const ends = worker.log().filter(({ msg }) => /^stopped\b/.test(String(msg)));
  expect(ends).toEqual(worker.log().slice(-1));
  return worker.log().slice(earlier);
}

/** Also expects that one file is left that any tool can open, and that every run in it has ended. */
export async function expectCleanStop({ database }: Bench, worker: RunningProgram): Promise<readonly LogLine[]> {
  const lines = await expectStop(worker);
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

/** The messages of log lines. */
export function wordsOf(lines: readonly LogLine[]): readonly string[] {
  return lines.map(({ msg }) => String(msg));
}
