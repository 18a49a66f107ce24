import { describe, expect, it } from 'vitest';
import { EVERY_SECOND } from '../../support/bench.ts';
import { NO_MOUNT } from '../../support/copy-process.ts';
import { setUpSyscalls } from '../syscalls/bench.ts';
import { pickCalls, sweep } from '../syscalls/sweep.ts';
import { missingStrace } from '../syscalls/syscall.ts';
import { countWorkerCalls, outlast } from '../syscalls/worker.ts';
import { outlastFullDisk, setUpDisk } from './small-disk.ts';

/** Free pages; a poll of the whole list needs more. */
const PAGES = [0, 1, 2, 3, 5, 8, 13, 20];
/** Consecutive calls that fail: enough for one or two polls and the retries after them. */
const IN_A_ROW = 3;

describe('a worker on a disk of 2 MB that fills up and is freed', () => {
  // A new disk for each case, since every list makes the feed longer.
  it.each(PAGES)('is not restarted and catches up, if there was room for %i pages', async (pages) => {
    const bench = await setUpDisk();
    if (bench === undefined) throw new Error(NO_MOUNT);
    const worker = bench.start(['run'], { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
    await worker.waitForPoll('changed');
    await outlastFullDisk(bench, worker, pages);
    await outlastFullDisk(bench, worker, pages);
    expect((await worker.stop()).code).toBe(0);
  });
});

describe('a worker whose disk fails for some calls from the n-th on', () => {
  it.each([
    ['pwrite64', 'EIO'],
    ['pwrite64', 'ENOSPC'],
    // The error of a file system that the kernel has remounted read-only.
    ['pwrite64', 'EROFS'],
    ['fsync', 'EIO'],
    ['ftruncate', 'EIO'],
  ] as const)('is not restarted and catches up, or says at its start what is wrong: %s, %s', async (call, error) => {
    expect(missingStrace()).toBeUndefined();
    const bench = await setUpSyscalls('the old list');
    const count = (await countWorkerCalls(bench)).get(call) ?? 0;
    const injections = pickCalls(count).map((nth) => ({ call, error, nth, upTo: IN_A_ROW }));
    const { results, failures } = await sweep(injections, (injection) => outlast(bench, injection));
    const told = results.map((failed) => failed ?? 'not started').join(' ');
    console.info(`worker, ${call}, ${error}: ${count} calls, failed polls: ${told}`);
    expect(failures).toEqual([]);
    expect(count).toBeGreaterThan(0);
    if (call !== 'ftruncate') expect(results.some((failed) => failed !== undefined && failed > 0)).toBe(true);
  });
});
