import { setImmediate } from 'node:timers/promises';

/** Longest stretch of work at a time: what else the process has to do comes in between. */
const STRETCH_MS = 10;

/** Work that may pause wherever it yields. */
export type Stretches<T> = Generator<void, T>;

/** Does the work, and makes way for the event loop in between. Rejects with the reason of a signal that aborts. */
export async function inStretches<T>(work: Stretches<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const until = performance.now() + STRETCH_MS;
    let step = work.next();
    while (step.done !== true && performance.now() < until) step = work.next();
    if (step.done === true) return step.value;
    await makeWay(signal);
  }
}

/** Does the work without any pause. */
export function atOnce<T>(work: Stretches<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Lets whatever else is due come first. Rejects with the reason of a signal that has aborted. */
export async function makeWay(signal?: AbortSignal): Promise<void> {
  await setImmediate();
  signal?.throwIfAborted();
}
