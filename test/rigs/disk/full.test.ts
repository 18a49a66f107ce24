import { describe, expect, it } from 'vitest';
import { EVERY_SECOND } from '../../support/bench.ts';
import { NO_MOUNT } from '../../support/copy-process.ts';
import { fingerprint } from '../../support/folder.ts';
import { findFreePort } from '../../support/port.ts';
import { fillDisk, outlastFullDisk, remount, setUpDisk, startOnDisk } from './small-disk.ts';

describe('a disk of 2 MB', () => {
  it('that fills up and is freed: the worker is not restarted and catches up', async ({ skip }) => {
    const bench = await setUpDisk();
    if (bench === undefined) return skip(NO_MOUNT);
    const worker = await startOnDisk(bench);
    await outlastFullDisk(bench, worker, 0);
    await outlastFullDisk(bench, worker, 3);
    expect((await worker.stop()).code).toBe(0);
  });

  it('that fills up: status says what only the worker knows, and keeps the verdict of the file', async ({ skip }) => {
    const bench = await setUpDisk();
    if (bench === undefined) return skip(NO_MOUNT);
    const env = { LEAGUE_SYNC_LISTEN: `127.0.0.1:${await findFreePort()}`, LEAGUE_SYNC_SCHEDULE: EVERY_SECOND };
    const worker = bench.start(['run'], env);
    await worker.waitForPoll('changed');
    expect((await bench.run(['status'], env)).stdout).not.toContain('worker says');
    fillDisk(bench.disk, 0);
    bench.change();
    await worker.waitForPoll('failed');
    expect((await bench.run(['status'], env)).stdout).toMatch(
      /^● up to date[\s\S]*^worker says +The database .* full/m,
    );
  });

  it.for(['sync', 'run'])(
    'that is mounted read-only: %s says so, leaves it as it is, and goes on after',
    async (command, { skip }) => {
      const bench = await setUpDisk();
      if (bench === undefined) return skip(NO_MOUNT);
      expect((await bench.run(['sync'])).code).toBe(0);
      bench.change();
      remount(bench, 'ro');
      const before = fingerprint(bench.disk);
      const { code, stderr } = await bench.run([command]);
      expect(code).toBe(74);
      expect(stderr).toContain(bench.disk);
      expect(stderr).toContain(
        'is on a read-only file system (SQLITE_CANTOPEN, EROFS); remount it read-write, or choose a path on another one.',
      );
      expect(fingerprint(bench.disk)).toEqual(before);
      remount(bench, 'rw');
      expect((await bench.run(['sync'])).code).toBe(0);
      expect(bench.rows('SELECT outcome FROM runs ORDER BY id')).toEqual([
        { outcome: 'changed' },
        { outcome: 'changed' },
      ]);
    },
  );
});
