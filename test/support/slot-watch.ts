import { type Due, watchSlots } from '../../src/worker/schedule.ts';
import { createTestClock } from './clock.ts';

/** The first multiple of a time after an instant, as `*∕n` names slots. */
export function slotAfter(now: number, everyMs: number): number {
  return (Math.floor(now / everyMs) + 1) * everyMs;
}

/** A watch over slots of one length, which counts how often the schedule is asked for one. */
export function watchEvery(everyMs: number, from: number) {
  const clock = createTestClock(from);
  const stop = new AbortController();
  const seen: string[] = [];
  let asked = 0;
  const nextSlot = (): number => {
    asked += 1;
    return slotAfter(clock.now(), everyMs);
  };
  const onDue = (due: Due): void => {
    seen.push(`${due} ${new Date(clock.now()).toISOString()}`);
  };
  const schedule = { expression: '', timezone: 'UTC', nextSlot, nextSlots: () => [], slotAfter: nextSlot };
  const watching = watchSlots([{ schedule, onDue }], { clock, onLook: () => undefined }, stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await watching;
  };
  return { clock, seen, asked: () => asked, end };
}
