import { describe, expect, it } from 'vitest';
import { StoppedError } from '../../src/errors.ts';
import { startDeadline } from '../../src/service/retry.ts';
import { createTestClock } from '../support/clock.ts';

const RUN_MS = 120_000;

function start() {
  const stop = new AbortController();
  const clock = createTestClock();
  return { stop, clock, deadline: startDeadline(clock, RUN_MS, stop.signal) };
}

describe('the deadline of a run', () => {
  it('passes at its last millisecond, not before', async () => {
    const { clock, deadline } = start();
    const begun = clock.monotonic();
    await clock.advance(RUN_MS - 1);
    expect(deadline.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline.signal.reason).toMatchObject({
      kind: 'timeout',
      retryable: false,
      message: 'No success within 2 min (LEAGUE_SYNC_RUN_TIMEOUT).',
    });
    expect(deadline.at).toBe(begun + RUN_MS);
  });

  it.each([
    ['an hour back', -3_600_000],
    ['a year ahead', 365 * 86_400_000],
  ])('does not change if the clock is set %s', async (_way, stepMs) => {
    const { clock, deadline } = start();
    await clock.advance(RUN_MS / 2);
    clock.step(stepMs);
    await clock.advance(RUN_MS / 2 - 1);
    expect(deadline.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline.signal.aborted).toBe(true);
  });

  it('aborts with the worker, for its reason', async () => {
    const { stop, clock, deadline } = start();
    const reason = new StoppedError();
    stop.abort(reason);
    await clock.advance(RUN_MS);
    expect(deadline.signal.reason).toBe(reason);
  });

  it('ends when it is disposed of', async () => {
    const { clock, deadline } = start();
    deadline[Symbol.dispose]();
    await clock.advance(RUN_MS);
    expect(deadline.signal.aborted).toBe(false);
  });
});
