import { setImmediate } from 'node:timers/promises';
import { type Clock, systemClock } from '../../src/time/clock.ts';

/** A clock that only a test advances. */
export type TestClock = ReturnType<typeof createTestClock>;

type Sleeper = { readonly wakeAt: number; readonly wake: () => void };

/** `turns` is the number of event loop turns that the continuation of a sleep may take if it yields. */
export function createTestClock(wallAt = Date.parse('2026-11-20T12:00:00.000Z'), turns = 1) {
  let wall = wallAt;
  let monotonic = 5_000;
  const sleepers = new Set<Sleeper>();
  /** The durations of all sleeps so far, in ms. */
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
  /** Advances both clocks; wakes each sleep in order, and lets its continuation finish. */
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
    /** Steps the wall clock only, as by a correction or a suspension. */
    step: (ms: number): void => {
      wall += ms;
    },
    slept,
  };
}

function earliest(sleepers: ReadonlySet<Sleeper>, end: number): Sleeper | undefined {
  return [...sleepers].filter(({ wakeAt }) => wakeAt <= end).sort((one, other) => one.wakeAt - other.wakeAt)[0];
}

/** A clock whose wall time a test sets; waits and the monotonic clock are real. */
export function createWallClock(now: () => number): Clock {
  return { ...systemClock, now };
}
