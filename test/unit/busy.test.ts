import { describe, expect, it } from 'vitest';
import { DatabaseError, StoppedError, TransportError } from '../../src/errors.ts';
import { createRetryWhileBusy } from '../../src/store/busy.ts';
import { createTestClock } from '../support/clock.ts';

const SECOND = 1_000;
const busy = () => new DatabaseError('The database is in use.', { busy: true });

type Stage = { readonly freeAtMs?: number; readonly error?: Error };

/** Work on a database that another program locks until a time; returns when (ms) it ended, and how. */
function createStage({ freeAtMs = Number.POSITIVE_INFINITY, error = busy() }: Stage = {}) {
  const clock = createTestClock();
  const begun = clock.monotonic();
  const stop = new AbortController();
  const told: number[] = [];
  const retryWhileBusy = createRetryWhileBusy(clock, stop.signal, () => told.push(clock.monotonic() - begun));
  const work = (): string => {
    if (clock.monotonic() - begun < freeAtMs) throw error;
    return 'done';
  };
  const attempt = async (signal?: AbortSignal) => {
    const result = await retryWhileBusy(work, signal).catch((failure: unknown) => failure);
    return { result, at: clock.monotonic() - begun };
  };
  return { clock, stop, error, told, attempt };
}

describe('work on a busy database', () => {
  it.each([0, 100, 59 * SECOND])('that is free after %i ms is done then', async (freeAtMs) => {
    const { clock, attempt } = createStage({ freeAtMs });
    const ended = attempt();
    await clock.advance(100 * SECOND);
    expect(await ended).toEqual({ result: 'done', at: freeAtMs });
  });

  it('is given up after a minute', async () => {
    const { clock, attempt, error } = createStage();
    const ended = attempt();
    await clock.advance(100 * SECOND);
    expect(await ended).toEqual({ result: error, at: 60 * SECOND });
  });

  it('is given up three seconds after the stop, for all waits together', async () => {
    const { clock, attempt, stop, error } = createStage();
    const first = attempt();
    await clock.advance(SECOND);
    stop.abort(new StoppedError());
    await clock.advance(2 * SECOND);
    const second = attempt();
    await clock.advance(100 * SECOND);
    expect(await first).toEqual({ result: error, at: 4 * SECOND });
    expect(await second).toEqual({ result: error, at: 4 * SECOND });
  });

  it('is tried once even long after the stop', async () => {
    const { clock, attempt, stop } = createStage({ freeAtMs: 50 * SECOND });
    stop.abort(new StoppedError());
    await clock.advance(50 * SECOND);
    expect(await attempt()).toEqual({ result: 'done', at: 50 * SECOND });
  });

  it.each([
    { freeAtMs: 2 * SECOND - 100, told: [] },
    { freeAtMs: 30 * SECOND, told: [2 * SECOND] },
  ])('that is free after $freeAtMs ms is reported at $told', async ({ freeAtMs, told }) => {
    const stage = createStage({ freeAtMs });
    const ended = stage.attempt();
    await stage.clock.advance(30 * SECOND);
    await ended;
    expect(stage.told).toEqual(told);
  });

  it('rejects with its own error if the deadline of a run ends the wait', async () => {
    const { clock, attempt, error } = createStage();
    const overtime = new AbortController();
    const ended = attempt(overtime.signal);
    await clock.advance(SECOND);
    overtime.abort(new TransportError('timeout', false, 'No success within 1 s.'));
    expect((await ended).result).toBe(error);
    // A deadline in the past leaves time for one attempt.
    expect(await attempt(overtime.signal)).toEqual({ result: error, at: SECOND });
  });

  it('rejects with the reason of the stop that ends the wait', async () => {
    const { clock, attempt } = createStage();
    const impatient = new AbortController();
    const ended = attempt(impatient.signal);
    await clock.advance(SECOND);
    const reason = new StoppedError();
    impatient.abort(reason);
    expect((await ended).result).toBe(reason);
  });

  it.each([
    ['another database error', new DatabaseError('The disk is full.')],
    ['a bug', new TypeError('x is undefined')],
  ])('does not wait for %s to pass', async (_, error) => {
    expect(await createStage({ error }).attempt()).toEqual({ result: error, at: 0 });
  });
});
