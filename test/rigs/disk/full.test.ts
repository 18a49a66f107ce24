import { describe, expect, it } from 'vitest';
import { NO_MOUNT } from '../../support/copy-process.ts';
import { fingerprint } from '../../support/folder.ts';
import { outlastFullDisk, remount, setUpDisk, startOnDisk } from './small-disk.ts';

describe('a disk of 2 MB', () => {
  it('that fills up and is freed: the worker is not restarted and catches up', async ({ skip }) => {
    const bench = await setUpDisk();
    if (bench === undefined) return skip(NO_MOUNT);
    const worker = await startOnDisk(bench);
    await outlastFullDisk(bench, worker, 0);
    await outlastFullDisk(bench, worker, 3);
    expect((await worker.stop()).code).toBe(0);
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
