import { unlessAll } from '../../support/extent.ts';
import { describeInjection, type Injection } from './syscall.ts';

/** Parallel attempts: most of them wait, since a clean stop tries for two seconds to leave one file. */
const LANES = 4;

/** The maximum per kind unless all are requested, which takes hours. */
const MOST_TRIED = 3;

/**
 * Chooses the calls to fail out of `count`: at even distances from a random first one, or from the one in TEST_SEED;
 * all of them with TEST_ALL=1.
 */
export function pickCalls(count: number): readonly number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  if (count <= unlessAll(MOST_TRIED, count)) return all;
  const distance = Math.ceil(count / MOST_TRIED);
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * distance));
  console.info(`every ${distance}th of ${count} calls; TEST_SEED=${seed}`);
  return all.filter((nth) => nth % distance === seed % distance);
}

/** Continues after failures, to show which calls fail. */
export async function sweep<T>(injections: readonly Injection[], attempt: (injection: Injection) => Promise<T>) {
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
