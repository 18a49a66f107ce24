import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What this process takes after garbage collection, and which day of the year it is. */
export type Memory = { readonly day: number; readonly residentBytes: number; readonly heapBytes: number };

export async function lookAtMemory(day: number): Promise<Memory> {
  // What is cleared away only after a collection is garbage for the next.
  for (let round = 0; round < 2; round += 1) {
    collectGarbage();
    await turnOfLoop();
  }
  const { rss, heapUsed } = process.memoryUsage();
  return { day, residentBytes: rss, heapBytes: heapUsed };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
}
