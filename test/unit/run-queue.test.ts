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

function reportOf(kind: RunKind, trigger: Trigger, { error, postponed = false }: Partial<Failure> = {}): RunReport {
  return makeReport({ kind, trigger, postponed, ...(error && { error }) });
}

function askingToWait(notBefore: number): StatusError {
  return new StatusError(false, 'The service answered with status 429.', { notBefore });
}

/** A queue whose runs last until the test ends them. */
function createStage() {
  const clock = createTestClock();
  const pause = createRetryAfter(clock);
  const stop = new AbortController();
  const started: string[] = [];
  const outcomes: RunReport['outcome'][] = [];
  const { log, lines } = createTestLog();
  let running = 0;
  let most = 0;
  let against: RunError | undefined;
  let end: (failure?: Failure) => void = () => undefined;
  const poll = (kind: RunKind) => async (trigger: Trigger) => {
    started.push(`${kind} ${trigger}`);
    running += 1;
    most = Math.max(most, running);
    const failure = await new Promise<Failure | undefined>((resolve) => {
      end = resolve;
    });
    running -= 1;
    const report = reportOf(kind, trigger, failure);
    outcomes.push(report.outcome);
    return report;
  };
  const queue = createRunQueue({
    poll: { leagues: poll('leagues'), profile: poll('profile') },
    retryAfter: pause,
    blockedBy: () => against,
    log,
    signal: stop.signal,
  });
  const endRun = async (failure?: Failure): Promise<void> => {
    await setImmediate();
    end(failure);
    await setImmediate();
  };
  const object = (error: RunError | undefined): void => {
    against = error;
  };
  return { clock, pause, queue, started, outcomes, most: () => most, endRun, object, stop, lines };
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

  it('makes up for a run that failed because of a Retry-After', async () => {
    const { clock, pause, queue, started, outcomes, endRun } = createStage();
    const until = clock.now() + 10 * MINUTE;
    queue.request('leagues', 'schedule');
    pause.extend(until);
    await endRun({ error: askingToWait(until), postponed: true });
    queue.resume();
    expect(outcomes).toEqual(['failed']);
    await clock.advance(10 * MINUTE);
    queue.resume();
    await endRun();
    expect(started).toEqual(['leagues schedule', 'leagues catch-up']);
    expect(outcomes).toEqual(['failed', 'unchanged']);
  });

  it('does not make up for a run that waited for a short Retry-After and failed anyway', async () => {
    const { clock, pause, queue, started, endRun } = createStage();
    const until = clock.now() + 1_000;
    queue.request('leagues', 'schedule');
    pause.extend(until);
    await endRun({ error: askingToWait(until), postponed: false });
    await clock.advance(MINUTE);
    queue.resume();
    await endRun();
    await queue.idle();
    expect(started).toEqual(['leagues schedule']);
  });

  it.each([
    new CredentialsError('The service refused the login (status 401).'),
    new StatusError(false, 'The login was answered with status 404.'),
  ])('makes up once for a run that failed for the login, when that may be tried again: $message', async (error) => {
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
  });

  it('makes up for nothing during a run, such as that of SIGHUP, since it may be refused too', async () => {
    const { queue, started, endRun, object } = createStage();
    const refused = { error: new CredentialsError('The service refused the login (status 401).'), postponed: false };
    queue.request('leagues', 'start');
    queue.request('profile', 'start');
    object(refused.error);
    await endRun(refused);
    await endRun(refused);
    object(undefined);
    queue.request('leagues', 'manual');
    await setImmediate();
    queue.resume();
    object(refused.error);
    await endRun(refused);
    queue.resume();
    await queue.idle();
    expect(started).toEqual(['leagues start', 'profile start', 'leagues manual']);
  });

  it('makes up for the leagues first, and for the profile only if they were not refused', async () => {
    const { queue, started, endRun, object } = createStage();
    const refused = { error: new CredentialsError('The service refused the login (status 401).'), postponed: false };
    queue.request('leagues', 'start');
    queue.request('profile', 'start');
    await endRun(refused);
    await endRun(refused);
    queue.resume();
    await setImmediate();
    object(refused.error);
    await endRun(refused);
    queue.resume();
    await queue.idle();
    expect(started).toEqual(['leagues start', 'profile start', 'leagues catch-up']);
  });

  it('makes up for nothing if a later run of the kind was good', async () => {
    const { queue, started, endRun } = createStage();
    queue.request('profile', 'schedule');
    await endRun({ error: new CredentialsError('refused'), postponed: false });
    queue.request('profile', 'schedule');
    await endRun();
    queue.resume();
    await queue.idle();
    expect(started).toEqual(['profile schedule', 'profile schedule']);
  });

  it('continues after a run that rejects', async () => {
    const started: RunKind[] = [];
    const queue = createRunQueue({
      poll: {
        leagues: () => {
          started.push('leagues');
          return Promise.reject(new Error('a bug'));
        },
        profile: async (trigger) => {
          started.push('profile');
          return reportOf('profile', trigger);
        },
      },
      retryAfter: createRetryAfter(createTestClock()),
      blockedBy: () => undefined,
      log: createTestLog().log,
      signal: new AbortController().signal,
    });
    queue.request('leagues', 'start');
    queue.request('profile', 'start');
    await queue.idle();
    expect(started).toEqual(['leagues', 'profile']);
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
