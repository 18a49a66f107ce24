import { describe, expect, it } from 'vitest';
import { unlessAll } from '../../support/extent.ts';
import { STARTS, setUpSyscalls } from './bench.ts';
import { meetInjection } from './check.ts';
import { CALLS, describeInjection, failing, type Injection, missingStrace } from './syscall.ts';

const FAILURES = (['EIO', 'ENOSPC'] as const).flatMap((error) =>
  (['once', 'for ever'] as const).map((upTo) => ({ error, upTo })),
);
/** The calls that are used today; other versions of SQLite or Node may use the rest. */
const USED: readonly string[] = ['pwrite64', 'fsync', 'ftruncate'];
/** The call that initializes an empty WAL; that of a killed worker is not empty. */
const USED_ON_EMPTY_LOG = 'write';

/** Parallel attempts: most of them wait, since a clean stop tries for two seconds to leave one file. */
const LANES = 8;

/** The maximum per kind unless all are requested, which takes hours. */
const MOST_TRIED = 3;

/**
 * Chooses the calls to fail out of `count`: at even distances from a random first one, or from the one in TEST_SEED;
 * all of them with TEST_ALL=1.
 */
function pickCalls(count: number): readonly number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  if (count <= unlessAll(MOST_TRIED, count)) return all;
  const distance = Math.ceil(count / MOST_TRIED);
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * distance));
  console.info(`every ${distance}th of ${count} calls; TEST_SEED=${seed}`);
  return all.filter((nth) => nth % distance === seed % distance);
}

/** Continues after failures, to show which calls fail. */
async function sweep<T>(injections: readonly Injection[], attempt: (injection: Injection) => Promise<T>) {
  const waiting = [...injections.entries()];
  const results: T[] = [];
  const failures: string[] = [];
  const drive = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, injection] = next;
      try {
        results[index] = await attempt(injection);
      } catch (failure) {
        failures.push(`${describeInjection(injection)}: ${failure instanceof Error ? failure.message : ''}`);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, drive));
  return { results, failures };
}

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

it('a sync that is done, but cannot remove its lock file, exits 0 all the same', async () => {
  const { place } = await setUpSyscalls('the old list');
  const { database, run } = place();
  // The first call is for the journal of the lock file.
  const removal: Injection = { call: 'unlink', error: 'EIO', nth: 2, upTo: 'once' };
  expect(await run('sync', failing(`${database}.lock`, removal))).toMatchObject({ code: 0, signal: null });
});
