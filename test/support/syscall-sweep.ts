import { describeInjection, type Injection } from './syscall.ts';

/** At once: most of them wait, since a clean end tries for two seconds to leave one file. */
const LANES = 4;

/** More of each kind only in a run that is told to try them all: they are hours. */
const MOST_TRIED = 8;

/**
 * Which calls are to fail, of so many that are made: at even distances from a first one that is another each time, or that
 * TEST_SEED names; all of them with TEST_ALL=1.
 */
export function pickCalls(count: number): readonly number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  if (process.env.TEST_ALL === '1' || count <= MOST_TRIED) return all;
  const distance = Math.ceil(count / MOST_TRIED);
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * distance));
  console.info(`every ${distance}th of ${count} calls; TEST_SEED=${seed}`);
  return all.filter((nth) => nth % distance === seed % distance);
}

/** Tries all of them, even where one fails, so that it shows which calls are of one kind. */
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
