import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NO_MOUNT } from '../../support/copy-process.ts';
import { execute } from '../../support/database.ts';
import { fingerprint } from '../../support/folder.ts';
import { expectSound } from '../syscalls/check.ts';
import { type DiskBench, expectFailedPoll, PUT_BACK, startWorker, tableOf } from './small-disk.ts';

/** What another program put in place of the file, by renaming. */
const REPLACEMENTS: Readonly<Record<string, (path: string, bench: DiskBench) => Promise<void> | void>> = {
  'an empty file': (path) => writeFileSync(path, ''),
  'a text': (path) => writeFileSync(path, 'Dear diary, this is no database.\n'.repeat(100)),
  'the database of another application': (path) => {
    execute(path, 'CREATE TABLE letters (letter TEXT)');
  },
  'an earlier copy': async (path, bench) => {
    const copy = join(bench.folder, 'copy.db');
    expect((await bench.run(['backup', copy])).code).toBe(0);
    copyFileSync(copy, path);
  },
};

function removeAll({ database }: DiskBench): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${database}${end}`, { force: true });
}

describe('a worker whose database is', () => {
  it('deleted makes no other one, neither at a poll nor at its end; a restart creates a new one', async ({ skip }) => {
    const started = await startWorker();
    if (started === undefined) return skip(NO_MOUNT);
    const { bench, worker } = started;
    removeAll(bench);
    for (let polls = 0; polls < 2; polls += 1) await expectFailedPoll(bench, worker, PUT_BACK);
    expect(existsSync(bench.database)).toBe(false);
    expect(await worker.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(Object.keys(fingerprint(bench.disk))).toEqual(['data', 'data/leagues.db.saved']);
    expect((await bench.run(['sync'])).code).toBe(0);
    expect(bench.rows('SELECT outcome FROM runs')).toEqual([{ outcome: 'changed' }]);
  });

  it.for(Object.entries(REPLACEMENTS))(
    'replaced by %s leaves that as it is, and goes on with its own as soon as it is back',
    async ([, make], { skip }) => {
      const started = await startWorker();
      if (started === undefined) return skip(NO_MOUNT);
      const { bench, worker } = started;
      const other = join(dirname(bench.database), 'other.db');
      const own = `${bench.database}.own`;
      await make(other, bench);
      const bytes = readFileSync(other);
      renameSync(bench.database, own);
      renameSync(other, bench.database);
      bench.change();
      for (let polls = 0; polls < 2; polls += 1) await expectFailedPoll(bench, worker, PUT_BACK);
      expect(readFileSync(bench.database).equals(bytes)).toBe(true);
      renameSync(own, bench.database);
      worker.send('SIGHUP');
      expect((await worker.waitForPoll()).outcome).toBe('changed');
      expect((await worker.stop()).code).toBe(0);
      expect(tableOf(bench)).toEqual([{ sport: 'sport 1', n: 100 }]);
      expectSound(bench, 'put back');
    },
  );

  it('replaced by an earlier copy, its log removed, leaves it as it is to its end; a restart goes on with it', async ({
    skip,
  }) => {
    const started = await startWorker();
    if (started === undefined) return skip(NO_MOUNT);
    const { bench, worker } = started;
    const copy = join(bench.folder, 'copy.db');
    expect((await bench.run(['backup', copy])).code).toBe(0);
    removeAll(bench);
    copyFileSync(copy, bench.database);
    bench.change();
    await expectFailedPoll(bench, worker, PUT_BACK);
    expect((await worker.stop()).code).toBe(0);
    expect(readFileSync(bench.database).equals(readFileSync(copy))).toBe(true);
    expect((await bench.run(['sync'])).code).toBe(0);
    expect(tableOf(bench)).toEqual([{ sport: 'sport 1', n: 100 }]);
    expectSound(bench, 'restarted');
  });

  it('moved away with its folder leaves, at its end, the log that another one has written there since', async ({
    skip,
  }) => {
    const started = await startWorker();
    if (started === undefined) return skip(NO_MOUNT);
    const { bench, worker } = started;
    const folder = dirname(bench.database);
    renameSync(folder, join(bench.disk, 'away'));
    await expectFailedPoll(bench, worker, PUT_BACK);
    const next = bench.start(['run']);
    await next.waitForPoll('changed');
    expect((await next.stop('SIGKILL')).signal).toBe('SIGKILL');
    const log = readFileSync(`${bench.database}-wal`);
    expect(log.length).toBeGreaterThan(0);
    expect((await worker.stop()).code).toBe(0);
    expect(readFileSync(`${bench.database}-wal`).equals(log)).toBe(true);
    expect(tableOf(bench)).toEqual([{ sport: 'sport 0', n: 100 }]);
    expectSound(bench, 'the next one');
  });
});
