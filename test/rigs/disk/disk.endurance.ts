import { describe, expect, it } from 'vitest';
import { EVERY_SECOND } from '../../support/bench.ts';
import { NO_MOUNT } from '../../support/copy-process.ts';
import { outlastFullDisk, setUpDisk } from './small-disk.ts';

/** Free pages; a poll of the whole list needs more. */
const PAGES = [0, 3, 13];

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
