import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoppedError } from '../../src/errors.ts';
import { startDeadline } from '../../src/service/retry.ts';

const RUN_MS = 120_000;
const WALL = Date.parse('2026-11-20T12:00:00.000Z');

/** A deadline on clocks that only a test moves. */
function start(stop = new AbortController()) {
  const clock = { now: Date.now, monotonic: () => performance.now(), sleep: () => Promise.resolve() };
  return { stop, clock, deadline: startDeadline(clock, RUN_MS, stop.signal) };
}

describe('the deadline of a run', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: WALL });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('passes at its last millisecond, not before', () => {
    const { clock, deadline } = start();
    const begun = clock.monotonic();
    vi.advanceTimersByTime(RUN_MS - 1);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.signal.reason).toMatchObject({
      kind: 'timeout',
      retryable: false,
      message: 'No success within 2 min (LEAGUE_SYNC_RUN_TIMEOUT).',
    });
    expect(deadline.at).toBe(begun + RUN_MS);
  });

  it.each([
    ['an hour back', WALL - 3_600_000],
    ['to 1970', 0],
    ['a year ahead', WALL + 365 * 86_400_000],
  ])('does not change if the clock is set %s', (_way, wall) => {
    const { deadline } = start();
    vi.advanceTimersByTime(RUN_MS / 2);
    vi.setSystemTime(wall);
    vi.advanceTimersByTime(RUN_MS / 2 - 1);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.signal.aborted).toBe(true);
  });

  it('aborts with the worker, for its reason', () => {
    const { stop, deadline } = start();
    const reason = new StoppedError();
    stop.abort(reason);
    vi.advanceTimersByTime(RUN_MS);
    expect(deadline.signal.reason).toBe(reason);
  });

  it('leaves no timer behind', () => {
    const { deadline } = start();
    deadline[Symbol.dispose]();
    vi.advanceTimersByTime(RUN_MS);
    expect(deadline.signal.aborted).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });
});
