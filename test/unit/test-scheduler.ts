import { type Due, runScheduler } from '../../src/worker/scheduler.ts';
import { createTestClock } from '../support/clock.ts';

/** The first multiple of an interval after a timestamp, like `*∕n` in cron. */
export function timeAfter(now: number, everyMs: number): number {
  return (Math.floor(now / everyMs) + 1) * everyMs;
}

/** Runs the scheduler with a fixed interval, and counts how often it asks for the next time. */
export function startTestScheduler(everyMs: number, from: number) {
  const clock = createTestClock(from);
  const stop = new AbortController();
  const seen: string[] = [];
  let asked = 0;
  const nextTime = (now = clock.now()): number => {
    asked += 1;
    return timeAfter(now, everyMs);
  };
  const onDue = (due: Due): void => {
    seen.push(`${due} ${new Date(clock.now()).toISOString()}`);
  };
  const watching = runScheduler([{ schedule: { nextTime }, onDue }], { clock, onTick: () => undefined }, stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await watching;
  };
  return { clock, seen, asked: () => asked, end };
}
