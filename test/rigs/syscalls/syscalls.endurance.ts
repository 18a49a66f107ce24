import { describe, expect, it } from 'vitest';
import { STARTS, setUpSyscalls } from './bench.ts';
import { meetInjection } from './check.ts';
import { pickCalls, sweep } from './sweep.ts';
import { CALLS, missingStrace } from './syscall.ts';

const ERRORS = ['EIO', 'ENOSPC'] as const;
const EXTENTS = ['once', 'for ever'] as const;
/** The calls that are used today; other versions of SQLite or Node may use the rest. */
const USED: readonly string[] = ['pwrite64', 'fsync', 'ftruncate'];
/** The call that initializes an empty WAL; that of a killed worker is not empty. */
const USED_ON_EMPTY_LOG = 'write';

const SWEEPS = STARTS.flatMap((start) =>
  CALLS.flatMap((call) => ERRORS.flatMap((error) => EXTENTS.map((upTo) => ({ start, call, error, upTo })))),
);

describe('a sync whose n-th call fails reports what it did, and the next one recovers', () => {
  it.each(SWEEPS)('from $start, when $call fails with $error $upTo', async ({ start, call, error, upTo }) => {
    expect(missingStrace()).toBeUndefined();
    const bench = await setUpSyscalls(start);
    const count = bench.counts.get(call) ?? 0;
    const injections = pickCalls(count).map((nth) => ({ call, error, nth, upTo }));
    const { results, failures } = await sweep(injections, (injection) => meetInjection(bench, injection));
    console.info(`${start}, ${call}, ${error} ${upTo}: ${count} calls, exit codes ${results.join(' ')}`);
    expect(failures).toEqual([]);
    const isUsed = USED.includes(call) || (call === USED_ON_EMPTY_LOG && start !== 'the log of a killed worker');
    expect(count > 0).toBe(isUsed);
    if (call === 'pwrite64' || call === 'fsync') expect(results).toContain(74);
  });
});
