import { describe, expect, it } from 'vitest';
import { STARTS, setUpSyscalls } from './bench.ts';
import { meetInjection } from './check.ts';
import { pickCalls, sweep } from './sweep.ts';
import { CALLS, missingStrace } from './syscall.ts';

const FAILURES = (['EIO', 'ENOSPC'] as const).flatMap((error) =>
  (['once', 'for ever'] as const).map((upTo) => ({ error, upTo })),
);
/** The calls that are used today; other versions of SQLite or Node may use the rest. */
const USED: readonly string[] = ['pwrite64', 'fsync', 'ftruncate'];
/** The call that initializes an empty WAL; that of a killed worker is not empty. */
const USED_ON_EMPTY_LOG = 'write';

const SWEEPS = STARTS.flatMap((start) => CALLS.map((call) => ({ start, call })));

describe('a sync whose n-th call fails reports what it did, and the next one recovers', () => {
  it.each(SWEEPS)('from $start, when $call fails with EIO or ENOSPC, once or for ever', async ({ start, call }) => {
    expect(missingStrace()).toBeUndefined();
    const bench = await setUpSyscalls(start);
    const count = bench.counts.get(call) ?? 0;
    const isUsed = USED.includes(call) || (call === USED_ON_EMPTY_LOG && start !== 'the log of a killed worker');
    expect(count > 0).toBe(isUsed);
    const injections = FAILURES.flatMap((failure) => pickCalls(count).map((nth) => ({ call, nth, ...failure })));
    const { results, failures } = await sweep(injections, (injection) => meetInjection(bench, injection));
    expect(failures).toEqual([]);
    for (const { error, upTo } of FAILURES) {
      const codes = results.filter((_, at) => injections[at]?.error === error && injections[at]?.upTo === upTo);
      console.info(`${start}, ${call}, ${error} ${upTo}: ${count} calls, exit codes ${codes.join(' ')}`);
      if (call === 'pwrite64' || call === 'fsync') expect(codes).toContain(74);
    }
  });
});
