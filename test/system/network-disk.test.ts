import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { missingStrace } from '../rigs/syscalls/syscall.ts';
import { setUp } from '../support/bench.ts';
import { readLines } from '../support/program.ts';

/** The magic number of CIFS, in memory order; its highest bit is set. */
const CIFS = '424d53ff';

/** Runs the program while `statfs` reports another file system for this folder. */
function pretending(folder: string, type: string): readonly string[] {
  const options = ['-D', '-f', '-qq', '-P', folder, '-e', 'trace=statfs', '-e', 'signal=none', '-o', '/dev/null'];
  return ['strace', ...options, '-e', `inject=statfs:poke_exit=@arg2=${type}`];
}

const isWarning = ({ level, network }: Readonly<Record<string, unknown>>) => level === 40 && network !== undefined;

it('a database on a network file system is warned of, with its path and what to do', async ({ skip }) => {
  skip(missingStrace() !== undefined, missingStrace());
  const bench = await setUp();
  const through = pretending(dirname(bench.database), CIFS);
  const { code, stderr } = await bench.runProcess(['sync'], {}, { through });
  expect(code, stderr).toBe(0);
  const [warning, ...more] = readLines(stderr).filter(isWarning);
  expect(more).toEqual([]);
  expect(warning).toMatchObject({ network: 'CIFS', msg: expect.stringContaining(bench.database) });
  expect(warning?.msg).toMatch(/put it on a local disk, and use LEAGUE_SYNC_PUBLISH to copy it/);
});
