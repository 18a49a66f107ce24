import { describe, expect, it } from 'vitest';
import { STARTS, type Start, setUpSyscalls } from './bench.ts';
import { meetInjection } from './check.ts';
import { failing, type Injection, missingStrace } from './syscall.ts';
import { outlast } from './worker.ts';

/** A sample of the thousands that `npm run test:endurance` tries: the lock, the first page, the WAL, its end. */
const SAMPLE: Readonly<Record<Start, readonly Injection[]>> = {
  'no database': [
    { call: 'pwrite64', error: 'ENOSPC', nth: 4, upTo: 'for ever' },
    { call: 'fsync', error: 'EIO', nth: 8, upTo: 'once' },
  ],
  'the old list': [
    { call: 'pwrite64', error: 'EIO', nth: 5, upTo: 'once' },
    { call: 'pwrite64', error: 'ENOSPC', nth: 30, upTo: 'for ever' },
    { call: 'fsync', error: 'EIO', nth: 7, upTo: 'once' },
    { call: 'ftruncate', error: 'EIO', nth: 1, upTo: 'once' },
  ],
  'the log of a killed worker': [{ call: 'fsync', error: 'EIO', nth: 4, upTo: 'once' }],
};

describe('a sync whose disk calls fail ends as documented, reports what it did, and the next one recovers', () => {
  it.for(STARTS)('from %s', async (start, { skip }) => {
    const missing = missingStrace();
    skip(missing !== undefined, missing);
    const bench = await setUpSyscalls(start);
    const codes: (number | null)[] = [];
    for (const injection of SAMPLE[start]) codes.push(await meetInjection(bench, injection));
    expect(codes).toContain(74);
  });
});

describe('a sync that is done, but cannot remove its lock file,', () => {
  it('exits 0 all the same', async ({ skip }) => {
    const missing = missingStrace();
    skip(missing !== undefined, missing);
    const { place } = await setUpSyscalls('the old list');
    const { database, run } = place();
    // The first call is for the journal of the lock file.
    const removal: Injection = { call: 'unlink', error: 'EIO', nth: 2, upTo: 'once' };
    const { code, stderr } = await run('sync', failing(`${database}.lock`, removal));
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(code).toBe(0);
  });
});

describe('a worker whose calls to the disk fail for a while', () => {
  it('is not restarted, and catches up', async ({ skip }) => {
    const missing = missingStrace();
    skip(missing !== undefined, missing);
    const bench = await setUpSyscalls('the old list');
    const failed = await outlast(bench, { call: 'pwrite64', error: 'EROFS', nth: 60, upTo: 3 });
    expect(failed).toBeGreaterThan(0);
  });
});
