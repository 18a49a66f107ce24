import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CredentialsError, type RunError, StatusError, StoppedError } from '../../src/errors.ts';
import { createRetryAfter } from '../../src/http/retry-after.ts';
import type { RunKind, Trigger } from '../../src/store/tables/runs.ts';
import type { RunReport } from '../../src/sync/report.ts';
import { createRunQueue } from '../../src/worker/run-queue.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestLog, wordsOf } from '../support/log-lines.ts';
import { makeReport } from '../support/run-report.ts';

const MINUTE = 60_000;
/** How a run fails; `postponed` if the Retry-After outlasts it. */
type Failure = { readonly error: RunError; readonly postponed: boolean };
const REFUSED = { error: new CredentialsError('The service refused the login (status 401).'), postponed: false };

function reportOf(kind: RunKind, trigger: Trigger, { error, postponed = false }: Partial<Failure> = {}): RunReport {
  return makeReport({ kind, trigger, postponed, ...(error && { error }) });
}

function askingToWait(notBefore: number): StatusError {
  return new StatusError(false, 'The service answered with status 429.', { notBefore });
}

/** A queue whose runs last until the test ends them; a run that ends with an error that is no failure rejects. */
function createStage() {
  const clock = createTestClock();
  const pause = createRetryAfter(clock);
  const stop = new AbortController();
  const started: string[] = [];
  const { log, lines } = createTestLog();
  let against: RunError | undefined;
  let end: (failure?: Failure | Error) => void = () => undefined;
  const poll = (kind: RunKind) => async (trigger: Trigger) => {
    started.push(`${kind} ${trigger}`);
    const failure = await new Promise<Failure | Error | undefined>((resolve) => {
      end = resolve;
    });
    if (failure instanceof Error) throw failure;
    return reportOf(kind, trigger, failure);
  };
  const queue = createRunQueue({
    poll: { leagues: poll('leagues'), profile: poll('profile') },
    retryAfter: pause,
    blockedBy: () => against,
    log,
    signal: stop.signal,
  });
  const endRun = async (failure?: Failure | Error): Promise<void> => {
    await setImmediate();
    end(failure);
    await setImmediate();
  };
  const object = (error: RunError | undefined): void => {
    against = error;
  };
  return { clock, pause, queue, started, endRun, object, stop, lines };
}

describe('the run queue', () => {
  it('polls the leagues first and the profile right after if both fall due together', async () => {
    const { queue, started, endRun } = createStage();
    queue.request('profile', 'schedule');
    queue.request('leagues', 'schedule');
    await endRun();
    await endRun();
    await queue.idle();
    expect(started).toEqual(['leagues schedule', 'profile schedule']);
  });

  it('skips a scheduled run while one of its kind is in progress, and warns of it', async () => {
    const { queue, started, endRun, lines } = createStage();
    queue.request('leagues', 'start');
    await setImmediate();
    expect(queue.request('leagues', 'schedule')).toBe(false);
    expect(wordsOf(lines)).toEqual(['warn leagues: skipped: the previous run is still in progress']);
    expect(lines).toMatchObject([{ kind: 'leagues', trigger: 'schedule' }]);
    await endRun();
    await queue.idle();
    expect(started).toEqual(['leagues start']);
    queue.request('leagues', 'schedule');
    await endRun();
    expect(started).toEqual(['leagues start', 'leagues schedule']);
  });

  it('logs once that scheduled runs are postponed, and for each SIGHUP again', async () => {
    const { clock, pause, queue, lines } = createStage();
    pause.extend(clock.now() + 30 * MINUTE);
    const said = (['schedule', 'schedule', 'manual', 'manual'] as const).map((trigger) => {
      const before = lines.length;
      return [queue.request('leagues', trigger), lines.length - before];
    });
    expect(said).toEqual([
      [false, 1],
      [false, 0],
      [false, 1],
      [false, 1],
    ]);
    expect(lines[0]).toMatchObject({
      level: 'warn',
      msg: 'leagues: postponed to 2026-11-20T12:30:00Z (Retry-After)',
      kind: 'leagues',
      not_before: '2026-11-20T12:30:00.000Z',
    });
  });

  it('postpones runs during a Retry-After and makes up for each kind once', async () => {
    const { clock, pause, queue, started, endRun } = createStage();
    pause.extend(clock.now() + 30 * MINUTE);
    for (const kind of ['profile', 'leagues', 'leagues', 'profile'] as const) queue.request(kind, 'schedule');
    await clock.advance(30 * MINUTE - 1);
    queue.resume();
    await setImmediate();
    expect(started).toEqual([]);
    await clock.advance(1);
    queue.resume();
    await setImmediate();
    queue.resume();
    await endRun();
    queue.resume();
    await endRun();
    queue.resume();
    await queue.idle();
    expect(started).toEqual(['leagues catch-up', 'profile catch-up']);
  });

  it.each([
    ['a Retry-After that outlasts it', true, ['leagues schedule', 'leagues catch-up']],
    ['another reason after a short Retry-After', false, ['leagues schedule']],
  ])('makes up only for a run that fails because of a Retry-After: %s', async (_, postponed, expected) => {
    const { clock, pause, queue, started, endRun } = createStage();
    const until = clock.now() + (postponed ? 10 * MINUTE : 1_000);
    queue.request('leagues', 'schedule');
    pause.extend(until);
    await endRun({ error: askingToWait(until), postponed });
    queue.resume();
    expect(started).toEqual(['leagues schedule']);
    await clock.advance(10 * MINUTE);
    queue.resume();
    await endRun();
    await queue.idle();
    expect(started).toEqual(expected);
  });

  it.each([REFUSED.error, new StatusError(false, 'The login was answered with status 404.')])(
    'makes up once for a run that failed for the login, when that may be tried again: $message',
    async (error) => {
      const { queue, started, endRun, object } = createStage();
      queue.request('leagues', 'schedule');
      object(error);
      await endRun({ error, postponed: false });
      queue.resume();
      await setImmediate();
      expect(started).toEqual(['leagues schedule']);
      object(undefined);
      queue.resume();
      queue.resume();
      await endRun();
      queue.resume();
      await queue.idle();
      expect(started).toEqual(['leagues schedule', 'leagues catch-up']);
    },
  );

  it('makes up for nothing during a run, such as that of SIGHUP, since it may be refused too', async () => {
    const { queue, started, endRun, object } = createStage();
    queue.request('leagues', 'start');
    queue.request('profile', 'start');
    object(REFUSED.error);
    await endRun(REFUSED);
    await endRun(REFUSED);
    object(undefined);
    queue.request('leagues', 'manual');
    await setImmediate();
    queue.resume();
    object(REFUSED.error);
    await endRun(REFUSED);
    queue.resume();
    await queue.idle();
    expect(started).toEqual(['leagues start', 'profile start', 'leagues manual']);
  });

  it('makes up for the leagues first, and for the profile only if they were not refused', async () => {
    const { queue, started, endRun, object } = createStage();
    queue.request('leagues', 'start');
    queue.request('profile', 'start');
    await endRun(REFUSED);
    await endRun(REFUSED);
    queue.resume();
    await setImmediate();
    object(REFUSED.error);
    await endRun(REFUSED);
    queue.resume();
    await queue.idle();
    expect(started).toEqual(['leagues start', 'profile start', 'leagues catch-up']);
  });

  it('makes up for nothing if a later run of the kind was good', async () => {
    const { queue, started, endRun } = createStage();
    queue.request('profile', 'schedule');
    await endRun(REFUSED);
    queue.request('profile', 'schedule');
    await endRun();
    queue.resume();
    await queue.idle();
    expect(started).toEqual(['profile schedule', 'profile schedule']);
  });

  it('continues after a run that rejects', async () => {
    const { queue, started, endRun } = createStage();
    queue.request('leagues', 'start');
    queue.request('profile', 'start');
    await endRun(new Error('a bug'));
    await endRun();
    await queue.idle();
    expect(started).toEqual(['leagues start', 'profile start']);
  });

  it('starts nothing after a stop', async () => {
    const { queue, started, endRun, stop } = createStage();
    queue.request('leagues', 'schedule');
    queue.request('profile', 'schedule');
    await setImmediate();
    stop.abort(new StoppedError());
    await endRun();
    queue.request('leagues', 'manual');
    await queue.idle();
    expect(started).toEqual(['leagues schedule']);
  });
});
