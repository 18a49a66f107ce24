import { describe, expect, it } from 'vitest';
import { EVERY_SECOND } from '../../support/bench.ts';
import { NO_MOUNT } from '../../support/copy-process.ts';
import { outlastFullDisk, setUpDisk } from './small-disk.ts';

/** Free pages, of which a poll of the whole list needs more, and how often the disk fills up. */
const CASES = [
  [0, 2],
  [3, 1],
  [13, 1],
] as const;

describe('a worker on a disk of 2 MB that fills up and is freed', () => {
  // A new disk for each case, since every list makes the feed longer.
  it.each(CASES)('is not restarted and catches up, if there was room for %i pages', async (pages, times) => {
    const bench = await setUpDisk();
    if (bench === undefined) throw new Error(NO_MOUNT);
    const worker = bench.start(['run'], { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
    await worker.waitForPoll('changed');
    for (let time = 0; time < times; time += 1) await outlastFullDisk(bench, worker, pages);
    expect((await worker.stop()).code).toBe(0);
  });
});
