import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/time/clock.ts';

/** A clock that stands still until a test moves it. */
export type TestClock = Clock & {
  /** Lets time pass on both clocks; every sleep that ends meanwhile wakes in its turn, and what it does is done. */
  readonly advance: (ms: number) => Promise<void>;
  /** Moves only the wall clock: a clock step, or a machine that was suspended. */
  readonly step: (ms: number) => void;
  /** How long every sleep so far was to last, in ms. */
  readonly slept: readonly number[];
};

type Sleeper = { readonly wakeAt: number; readonly wake: () => void };

/** `turns` of the event loop are as many as what has woken may take, where that gives way to others. */
export function createTestClock(wallAt = Date.parse('2026-11-20T12:00:00.000Z'), turns = 1): TestClock {
  let wall = wallAt;
  let monotonic = 5_000;
  const sleepers = new Set<Sleeper>();
  const slept: number[] = [];

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    slept.push(ms);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { wakeAt: monotonic + ms, wake: resolve };
    const abort = (): void => reject(signal?.reason);
    if (signal?.aborted) abort();
    else sleepers.add(sleeper);
    signal?.addEventListener('abort', abort, { once: true });
    return promise.finally(() => {
      sleepers.delete(sleeper);
      signal?.removeEventListener('abort', abort);
    });
  };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
  };
  const advance = async (ms: number): Promise<void> => {
    const end = monotonic + ms;
    await settle();
    for (let next = earliest(sleepers, end); next !== undefined; next = earliest(sleepers, end)) {
      wall += next.wakeAt - monotonic;
      monotonic = next.wakeAt;
      sleepers.delete(next);
      next.wake();
      await settle();
    }
    wall += end - monotonic;
    monotonic = end;
  };
  return {
    now: () => wall,
    monotonic: () => monotonic,
    sleep,
    advance,
    step: (ms) => {
      wall += ms;
    },
    slept,
  };
}

function earliest(sleepers: ReadonlySet<Sleeper>, end: number): Sleeper | undefined {
  return [...sleepers].filter(({ wakeAt }) => wakeAt <= end).sort((one, other) => one.wakeAt - other.wakeAt)[0];
}
