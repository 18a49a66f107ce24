import { chmodSync, readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { missingStrace } from '../rigs/syscalls/syscall.ts';
import { setUp } from '../support/bench.ts';
import { readRows } from '../support/database.ts';
import { OUTSIDERS } from '../support/read-only-client.ts';

const [ANOTHER_USER] = OUTSIDERS;
const COUNT = 'SELECT count(*) AS n FROM leagues';
/** The size of the WAL header, which is fsynced before the first frame. */
const HEADER_BYTES = 32;
const PAGE_BYTES = 4_096;
/** SQLite retries for ten seconds. */
const LONGEST_MS = 60_000;

function missing(folder: string): string | undefined {
  const missingTool = missingStrace();
  if (missingTool !== undefined) return missingTool;
  return ANOTHER_USER === undefined ? 'there is no other user' : ANOTHER_USER.missing(folder);
}

it('after a kill between the WAL header and its first frame another user can read', {
  timeout: LONGEST_MS,
}, async ({ skip }) => {
  const bench = await setUp();
  chmodSync(bench.folder, 0o755);
  skip(missing(bench.folder) !== undefined, missing(bench.folder));
  expect((await bench.run(['sync'])).code).toBe(0);
  const all = readRows(bench.database, COUNT);
  const log = `${bench.database}-wal`;
  const trace = ['-f', '-qq', '-P', log, '-e', 'trace=pwrite64', '-e', 'inject=pwrite64:signal=SIGKILL:when=2'];
  const { signal } = await bench.runProcess(['sync'], {}, { through: ['strace', ...trace] });
  expect(signal).toBe('SIGKILL');
  expect(readFileSync(log).subarray(0, HEADER_BYTES)).not.toEqual(Buffer.alloc(HEADER_BYTES));
  expect(statSync(log).size).toBeLessThan(PAGE_BYTES);
  expect(await ANOTHER_USER?.ask(bench.database, COUNT)).toEqual(all);
});
