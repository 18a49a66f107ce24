import { describe, expect, it } from 'vitest';
import { ContractError, RetryAfterError, StatusError, StoppedError, TransportError } from '../../src/errors.ts';
import { retry } from '../../src/service/retry.ts';
import { createTestClock } from '../support/clock.ts';
import { rejectionOf } from '../support/unit-error.ts';

const MINUTE = 60_000;
const passing = () => new TransportError('network', true, 'The connection broke.');

type Stage = { readonly random?: number; readonly runMs?: number; readonly fails?: (failure: number) => unknown };

/** Retries an attempt that fails as given; returns the times (ms) of all attempts, and the result. */
async function attempts({ random = 1, runMs = 2 * MINUTE, fails = passing }: Stage) {
  const clock = createTestClock();
  const begun = clock.monotonic();
  const stop = new AbortController();
  const moments: number[] = [];
  const attempt = (): Promise<string> => {
    moments.push(clock.monotonic() - begun);
    const error = fails(moments.length);
    return error === undefined ? Promise.resolve('answer') : Promise.reject(error);
  };
  const deadline = { at: begun + runMs, signal: stop.signal };
  const ended = retry(attempt, { clock, random: () => random, deadline }).then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  );
  await clock.advance(25 * 60 * MINUTE);
  return { moments, slept: clock.slept, ...(await ended) };
}

/** Fails with a `Retry-After` of this many ms after the first attempt. */
function askingToWait(waitMs: number): () => StatusError {
  const notBefore = createTestClock().now() + waitMs;
  return () => new StatusError(true, 'The service answered with status 429.', { notBefore });
}

describe('an attempt that fails', () => {
  it('and then succeeds returns its value', async () => {
    const { value, moments } = await attempts({ fails: (failure) => (failure < 3 ? passing() : undefined) });
    expect(value).toBe('answer');
    expect(moments).toHaveLength(3);
  });

  it('is made at most four times, after random parts of doubling waits', async () => {
    const { moments, error } = await attempts({ random: 1 });
    expect(moments).toEqual([0, 500, 1_500, 3_500]);
    expect(error).toMatchObject({ message: 'The connection broke.' });
    expect((await attempts({ random: 0.5 })).slept).toEqual([250, 500, 1_000]);
  });

  it.each([
    ['an answer that departs from the interface', new ContractError('no list')],
    ['a certificate that is not trusted', new TransportError('network', false, 'TLS')],
    ['a status that does not pass', new StatusError(false, 'status 404')],
    ['a bug', new TypeError('x is undefined')],
    ['a stop', new StoppedError()],
  ])('because of %s is not retried', async (_what, failure) => {
    const { moments, error } = await attempts({ fails: () => failure });
    expect(moments).toEqual([0]);
    expect(error).toBe(failure);
  });

  it.each([
    ['a Retry-After that is longer than the backoff', 10_000, [0, 10_000, 11_000, 13_000]],
    ['a Retry-After that is over', -10_000, [0, 500, 1_500, 3_500]],
    ['a Retry-After that outlasts the run', 24 * 60 * MINUTE, [0]],
  ])('never undercuts %s', async (_what, waitMs, expected) => {
    expect((await attempts({ fails: askingToWait(waitMs) })).moments).toEqual(expected);
  });

  it('is not retried if the next attempt would miss the deadline', async () => {
    expect((await attempts({ runMs: 1_501 })).moments).toEqual([0, 500, 1_500]);
    expect((await attempts({ runMs: 1_500 })).moments).toEqual([0, 500]);
  });

  it.each([
    ['after others have failed', (failure: number) => failure > 1, ' Previous failure: The connection broke.'],
    ['as the first one', () => true, ''],
  ])('because the run timed out names the previous failure, %s', async (_when, isLate, told) => {
    const late = new AbortController();
    late.abort(new TransportError('timeout', false, 'No success within 120000 ms.'));
    const clock = createTestClock();
    const deadline = { at: clock.monotonic() + MINUTE, signal: new AbortController().signal };
    let count = 0;
    const attempt = () => {
      count += 1;
      if (!isLate(count)) return Promise.reject(passing());
      Object.assign(deadline, { signal: late.signal });
      return Promise.reject(late.signal.reason);
    };
    const ended = rejectionOf(retry(attempt, { clock, random: () => 1, deadline }));
    await clock.advance(MINUTE);
    expect(await ended).toMatchObject({ kind: 'timeout', message: `No success within 120000 ms.${told}` });
  });

  it('during a Retry-After does not count, since nothing is sent', async () => {
    const notBefore = createTestClock().now() + 10_000;
    const paused = () => new RetryAfterError(true, 'The service asked for a pause.', { notBefore });
    const { moments } = await attempts({ fails: (failure) => (failure <= 2 ? paused() : passing()) });
    expect(moments).toEqual([0, 10_000, 10_500, 11_000, 12_000, 14_000]);
  });

  it('is not repeated once the worker is stopped', async () => {
    const clock = createTestClock();
    const stop = new AbortController();
    const options = { clock, random: () => 1, deadline: { at: clock.monotonic() + MINUTE, signal: stop.signal } };
    const ended = rejectionOf(retry(() => Promise.reject(passing()), options));
    await clock.advance(100);
    const reason = new StoppedError();
    stop.abort(reason);
    expect(await ended).toBe(reason);
  });
});
