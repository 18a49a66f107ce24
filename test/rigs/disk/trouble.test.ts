import { chmodSync, copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NO_MOUNT } from '../../support/copy-process.ts';
import { expectSound } from '../syscalls/check.ts';
import * as harm from './faults.ts';
import { type CommandName, expectRefusal, runOn, setUpPlace } from './setup.ts';
import { type DiskBench, expectFailedPoll, PUT_BACK, setUpDisk, startWorker } from './small-disk.ts';

/** The error, with exit code 74, if nothing must be changed. */
const CELLS: readonly (readonly [string, harm.DiskFault, CommandName, RegExp])[] = [
  ['a circle of links', harm.putCircle, 'sync --dry-run', /loops through|cannot be opened/],
  ['too many open files', harm.failAlways('openat', 'EMFILE'), 'status', /; raise the limit/],
];

describe('a start is refused with 74 on', () => {
  it.each(CELLS)('%s: %#', async (_, harmed, command, fix) => {
    const place = await setUpPlace();
    if (place === undefined) throw new Error(NO_MOUNT);
    await expectRefusal(place, command, harmed(place), fix);
  });

  it.each([
    ['accept-removals on a full disk', harm.fill, 'accept-removals', 74, /the disk is full .*; free some space\.$/m],
    [
      'sync over damaged logins, which stores the leagues,',
      harm.damageTable('logins'),
      'sync',
      0,
      /is damaged .*rescue/,
    ],
    [
      'sync where there are no locks',
      harm.failAlways('fcntl', 'ENOLCK'),
      'sync',
      75,
      /does not support locks .*local disk/,
    ],
  ] as const)('%s says what to do', async (_, harmed, command, code, fix) => {
    const place = await setUpPlace();
    if (place === undefined) throw new Error(NO_MOUNT);
    expect(await runOn(place, command, harmed(place))).toMatchObject({ code, stderr: expect.stringMatching(fix) });
  });

  it('a pipe in place of the file, which is not waited for', async () => {
    const place = await setUpPlace();
    if (place === undefined) throw new Error(NO_MOUNT);
    harm.putPipe(place);
    expect((await runOn(place, 'status', { through: ['timeout', '5'] })).code).toBe(74);
  });
});

async function start() {
  const started = await startWorker();
  if (started === undefined) throw new Error(NO_MOUNT);
  return started;
}

/** A copy of the database as it is, at another place. */
async function backUp(bench: DiskBench): Promise<string> {
  const copy = join(bench.folder, 'copy.db');
  expect((await bench.run(['backup', copy])).code).toBe(0);
  return copy;
}

describe('a worker', () => {
  it('leaves the lock of the worker that took its place if its folder was moved away', async () => {
    const { bench, worker } = await start();
    renameSync(dirname(bench.database), join(bench.disk, 'away'));
    await expectFailedPoll(bench, worker, PUT_BACK);
    const next = bench.start(['run']);
    await next.waitForPoll('changed');
    expect((await worker.stop()).code).toBe(0);
    expect((await bench.run(['sync'])).code).toBe(75);
  });

  it('does not destroy the copy that replaces its file by leaving its WAL beside it', async () => {
    const { bench, worker } = await start();
    const restored = join(dirname(bench.database), 'restored.db');
    copyFileSync(await backUp(bench), restored);
    renameSync(restored, bench.database);
    await expectFailedPoll(bench, worker, PUT_BACK);
    expect((await worker.stop()).code).toBe(0);
    expectSound(bench, 'restored');
  });

  it('notices that its file was written over', async () => {
    const { bench, worker } = await start();
    copyFileSync(await backUp(bench), bench.database);
    bench.change();
    await expectFailedPoll(bench, worker, /./);
  });

  it('notices that its WAL was deleted', async () => {
    const { bench, worker } = await start();
    for (const end of ['-wal', '-shm']) rmSync(`${bench.database}${end}`);
    bench.change();
    await expectFailedPoll(bench, worker, /./);
  });

  it('notices that -shm was deleted, without which other programs do not see its writes', async () => {
    const { bench, worker } = await start();
    rmSync(`${bench.database}-shm`);
    bench.change();
    await expectFailedPoll(
      bench,
      worker,
      /-shm was deleted, moved or replaced while the worker ran; nothing new is written; restart the worker/,
    );
    expect((await worker.stop()).code).toBe(0);
    expectSound(bench, 'without the index');
  });

  it('takes its lock again if that was deleted, so that no second worker writes', async () => {
    const { bench } = await start();
    rmSync(`${bench.database}.lock`);
    await expect.poll(() => existsSync(`${bench.database}.lock`), { timeout: 10_000 }).toBe(true);
    expect((await bench.run(['sync'])).code).toBe(75);
  });

  it.each(['says so at a poll', 'ends with 0'])('whose folder was closed to it: %s', async (what) => {
    const bench = await setUpDisk('data');
    if (bench === undefined) throw new Error(NO_MOUNT);
    const folder = dirname(bench.database);
    chmodSync(bench.folder, 0o755);
    chmodSync(folder, 0o777);
    const worker = bench.start(['run'], {}, { through: harm.AS_NOBODY });
    await worker.waitForPoll('changed');
    chmodSync(folder, 0o700);
    if (what === 'ends with 0') expect(await worker.stop()).toMatchObject({ code: 0, stderr: '' });
    else await expectFailedPoll(bench, worker, /permission/);
  });

  it('continues as soon as it can, without a row for the poll that could not begin', async () => {
    const { bench, worker } = await start();
    renameSync(bench.database, `${bench.database}.away`);
    await expectFailedPoll(bench, worker, PUT_BACK);
    renameSync(`${bench.database}.away`, bench.database);
    worker.send('SIGHUP');
    await worker.waitForPoll('unchanged');
    const outcomes = bench.rows('SELECT outcome FROM runs ORDER BY id').map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['changed', 'unchanged']);
  });
});
