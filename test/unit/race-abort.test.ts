import { describe, expect, it } from 'vitest';
import { settledOrAborted, unlessAborted, yieldToEventLoop } from '../../src/race-abort.ts';
import { rejectionOf } from '../support/unit-error.ts';

const REASON = new Error('stopped');
const never = (): Promise<never> => new Promise(() => undefined);

describe('a promise in a race with a signal', () => {
  it('is left alone if the signal has aborted before or aborts later', async () => {
    expect(await rejectionOf(unlessAborted(never(), AbortSignal.abort(REASON)))).toBe(REASON);
    const stop = new AbortController();
    const race = unlessAborted(never(), stop.signal);
    stop.abort(REASON);
    expect(await rejectionOf(race)).toBe(REASON);
  });

  it('decides the race if it settles first', async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
    const failure = new Error('its own');
    expect(await rejectionOf(unlessAborted(Promise.reject(failure), signal))).toBe(failure);
  });

  it('has one more turn after the abort, in which its own error wins', async () => {
    const stop = new AbortController();
    const failure = new Error('its own');
    const work = new Promise<never>((_, reject) => stop.signal.addEventListener('abort', () => reject(failure)));
    const race = settledOrAborted(work, stop.signal);
    stop.abort(REASON);
    expect(await rejectionOf(race)).toBe(failure);
    expect(await rejectionOf(settledOrAborted(never(), AbortSignal.abort(REASON)))).toBe(REASON);
  });
});

it('a turn of the event loop lets other work go on, and ends with the reason of an aborted signal', async () => {
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  await yieldToEventLoop();
  expect(turned).toBe(true);
  const stop = new AbortController();
  const turn = yieldToEventLoop(stop.signal);
  stop.abort(REASON);
  expect(await rejectionOf(turn)).toBe(REASON);
});
