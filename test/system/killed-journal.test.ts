import { chmodSync, copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { missingStrace } from '../rigs/syscalls/syscall.ts';
import { setUpSynced } from '../support/bench.ts';
import { makeFolder } from '../support/folder.ts';
import { runProgram } from '../support/program.ts';
import { OUTSIDERS } from '../support/read-only-client.ts';

const [ANOTHER_USER] = OUTSIDERS;
const ALL = [{ n: 124 }];
const COUNT = 'SELECT count(*) AS n FROM leagues';
/** The last system calls of the switches to WAL mode and back: a journal on disk would exist between them. */
const CALLS = ['pwrite64', 'fdatasync', 'ftruncate', 'unlink'];
const MOST = 8;

it('a killed sync leaves no journal for another user to roll back', { timeout: 120_000 }, async ({ skip }) => {
  skip(missingStrace() !== undefined, missingStrace());
  const bench = await setUpSynced();
  let kills = 0;
  for (const call of CALLS) {
    for (let nth = 1; nth <= MOST; nth += 1) {
      const { path: folder } = makeFolder();
      chmodSync(folder, 0o755);
      mkdirSync(join(folder, 'data'), { mode: 0o755 });
      const database = join(folder, 'data', 'leagues.db');
      copyFileSync(bench.database, database);
      if (!(await killAt(call, nth, folder, bench.env))) break;
      kills += 1;
      const left = readdirSync(dirname(database));
      expect(left, `${call} ${nth}`).not.toContain('leagues.db-journal');
      // With -wal or -shm missing or just created, SQLite itself cannot recover.
      if (left.includes('leagues.db-wal')) continue;
      expect(await ANOTHER_USER?.ask(database, COUNT), `${call} ${nth}`).toEqual(ALL);
    }
  }
  expect(kills).toBeGreaterThan(CALLS.length);
});

/** Whether the program reached that call. */
async function killAt(call: string, nth: number, cwd: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  const trace = ['-f', '-qq', '-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=${nth}`];
  const { code, signal } = await runProgram(['sync'], { cwd, env, through: ['strace', ...trace] });
  if (signal !== 'SIGKILL') expect(code, `${call} ${nth}`).toBe(0);
  return signal === 'SIGKILL';
}
