import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NO_MOUNT } from '../../support/copy-process.ts';
import { askSqlite3 } from '../../support/database.ts';
import type { RunningProgram } from '../../support/program.ts';
import { expectSound } from '../syscalls/check.ts';
import { missingStrace } from '../syscalls/syscall.ts';
import * as happen from './loss.ts';
import { type DiskBench, expectFailedPoll, PUT_BACK, startWorker, tableOf } from './small-disk.ts';

type Case = { readonly happen: happen.InjectTrouble; readonly fix: RegExp };

const CASES: Readonly<Record<string, Case>> = {
  'is full': { happen: happen.fillUp, fix: /the disk is full .*; free some space\.$/ },
  'cannot be written': { happen: happen.failCalls('pwrite64', 'EIO'), fix: /; check the disk\.$/ },
  'has been made read-only by its kernel': {
    happen: happen.failCalls('pwrite64', 'EROFS'),
    fix: /; check the disk\.$/,
  },
  'keeps nothing': { happen: happen.failCalls('fsync', 'EIO'), fix: /; check the disk\.$/ },
  'has lost the file': { happen: happen.moveFile, fix: PUT_BACK },
  'has lost the folder': { happen: happen.moveFolder, fix: PUT_BACK },
  'is unmounted': { happen: happen.unmount, fix: PUT_BACK },
  'is covered by another one': { happen: happen.mountOver, fix: PUT_BACK },
};

const READING = [['status'], ['query', 'SELECT 1'], ['changes'], ['accept-removals']] as const;

/** Readers get the old data if there is any, otherwise an error that says why not. */
async function expectReaders(bench: DiskBench, { database }: happen.Trouble, before: readonly unknown[]) {
  const rows = (sql: string) => askSqlite3(database ?? '', sql);
  if (database !== undefined) expect(tableOf({ rows })).toEqual(before);
  const isThere = database === bench.database;
  for (const command of READING) {
    const { code, stderr } = await bench.run(command);
    expect(code, `${command[0]}\n${stderr}`).toBe(isThere ? 0 : 74);
    if (!isThere) expect(stderr).toMatch(/There is no database at|is gone: a worker has used it/);
  }
  expect(existsSync(bench.database)).toBe(isThere);
}

async function expectCatchesUp(bench: DiskBench, worker: RunningProgram, before: readonly unknown[]): Promise<void> {
  worker.send('SIGHUP');
  expect((await worker.waitForPoll()).outcome).toBe('changed');
  expect(tableOf(bench)).toHaveLength(1);
  expect(tableOf(bench)).not.toEqual(before);
  expect(bench.rows("SELECT id FROM runs WHERE outcome IN ('running', 'interrupted')")).toEqual([]);
  expect((await worker.stop()).code).toBe(0);
  expectSound(bench, 'after its end');
  expect(readdirSync(dirname(bench.database))).toEqual(['leagues.db']);
}

describe('a worker whose disk', () => {
  it.for(Object.entries(CASES))(
    '%s says what to do at each poll, makes no file, leaves the old data, and goes on by itself after',
    async ([, { happen, fix }], { skip }) => {
      skip(missingStrace() !== undefined, missingStrace());
      const started = await startWorker();
      if (started === undefined) return skip(NO_MOUNT);
      const { bench, worker } = started;
      const before = tableOf(bench);
      const trouble = await happen(bench, worker);
      bench.change();
      for (let failures = 0; failures < 2; failures += 1) await expectFailedPoll(bench, worker, fix);
      await expectReaders(bench, trouble, before);
      await trouble.pass();
      await expectCatchesUp(bench, worker, before);
    },
  );

  it('loses the file in the middle of a poll has that poll as failed in its rows, once the file is back', async ({
    skip,
  }) => {
    const started = await startWorker();
    if (started === undefined) return skip(NO_MOUNT);
    const { bench, worker } = started;
    const before = tableOf(bench);
    const troubles: happen.Trouble[] = [];
    bench.change();
    bench.atRequest(() => troubles.push(happen.moveFile(bench, worker) as happen.Trouble));
    await expectFailedPoll(bench, worker, PUT_BACK);
    await troubles[0]?.pass();
    await expectCatchesUp(bench, worker, before);
    expect(bench.rows('SELECT outcome, error_kind FROM runs ORDER BY id')).toEqual([
      { outcome: 'changed', error_kind: null },
      { outcome: 'failed', error_kind: 'database' },
      { outcome: 'changed', error_kind: null },
    ]);
  });
});
