import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CredentialsError, type RunError, StatusError, StoppedError } from '../../src/errors.ts';
import { createRetryAfter } from '../../src/service/retry-after.ts';
import type { RunKind, Trigger } from '../../src/store/tables/runs.ts';
import type { RunReport } from '../../src/sync/report.ts';
import { Poller } from '../../src/worker/poller.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestLog, wordsOf } from '../support/log-lines.ts';
import { makeReport } from '../support/run-report.ts';

const MINUTE = 60_000;
/** How a run ends that fails; `putOff` where the service's pause reaches past the run. */
type Failure = { readonly error: RunError; readonly putOff: boolean };

function reportOf(kind: RunKind, trigger: Trigger, { error, putOff = false }: Partial<Failure> = {}): RunReport {
  return makeReport({ kind, trigger, putOff, ...(error && { error }) });
}

function askingToWait(notBefore: number): StatusError {
  return new StatusError(false, 'The service answered with status 429.', { notBefore });
}

/** A poller whose runs go on until the test ends them. */
function createStage() {
  const clock = createTestClock();
  const pause = createRetryAfter(clock);
  const stop = new AbortController();
  const started: string[] = [];
  const outcomes: RunReport['outcome'][] = [];
  const { log, lines } = createTestLog();
  let isFirstLoad = false;
  let running = 0;
  let most = 0;
  let against: CredentialsError | undefined;
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
  const poller = new Poller({
    poll: { leagues: poll('leagues'), profile: poll('profile') },
    pause,
    objection: () => against,
    isFirstLoad: () => isFirstLoad,
    log,
    signal: stop.signal,
  });
  const endRun = async (failure?: Failure): Promise<void> => {
    await setImmediate();
    end(failure);
    await setImmediate();
  };
  const object = (error: CredentialsError | undefined): void => {
    against = error;
  };
  const loadFirst = (): void => {
    isFirstLoad = true;
  };
  return { clock, pause, poller, started, outcomes, most: () => most, endRun, object, stop, lines, loadFirst };
}

describe('the poller', () => {
  it('makes the leagues first and the profile right after when both fall due together', async () => {
    const { poller, started, endRun } = createStage();
    poller.request('profile', 'schedule');
    poller.request('leagues', 'schedule');
    await endRun();
    await endRun();
    await poller.idle();
    expect(started).toEqual(['leagues schedule', 'profile schedule']);
  });

  it('never makes two runs at once', async () => {
    const { poller, started, endRun, most } = createStage();
    poller.request('profile', 'schedule');
    await setImmediate();
    poller.request('leagues', 'schedule');
    await setImmediate();
    expect([poller.running(), started]).toEqual(['profile', ['profile schedule']]);
    await endRun();
    expect(poller.running()).toBe('leagues');
    await endRun();
    expect(started).toEqual(['profile schedule', 'leagues schedule']);
    expect(most()).toBe(1);
  });

  it('skips a slot that comes while a run of its kind is going on', async () => {
    const { poller, started, endRun } = createStage();
    poller.request('leagues', 'start');
    await setImmediate();
    poller.request('leagues', 'schedule');
    await endRun();
    await poller.idle();
    expect(started).toEqual(['leagues start']);
    poller.request('leagues', 'schedule');
    await endRun();
    expect(started).toEqual(['leagues start', 'leagues schedule']);
  });

  it.each([
    ['warns of a slot that it skips', false, 'warn leagues: skipped: the run before is still going on'],
    [
      'takes a slot that comes during a first load for nothing odd',
      true,
      'info leagues: skipped: the first poll is still going on',
    ],
  ])('%s', async (_, isFirst, words) => {
    const { poller, endRun, lines, loadFirst } = createStage();
    poller.request('leagues', 'start');
    await setImmediate();
    if (isFirst) loadFirst();
    expect(poller.request('leagues', 'schedule')).toBe(false);
    expect(wordsOf(lines)).toEqual([words]);
    expect(lines).toMatchObject([{ kind: 'leagues', trigger: 'schedule' }]);
    await endRun();
  });

  it('says once that slots are postponed, and to each that asks for a poll, and never that one follows', async () => {
    const { clock, pause, poller, lines } = createStage();
    pause.extend(clock.now() + 30 * MINUTE);
    const said = (['schedule', 'schedule', 'manual', 'manual'] as const).map((trigger) => {
      const before = lines.length;
      return [poller.request('leagues', trigger), lines.length - before];
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

  it('makes one run of several requests that wait', async () => {
    const { poller, started, endRun } = createStage();
    poller.request('leagues', 'schedule');
    poller.request('leagues', 'manual');
    await endRun();
    await poller.idle();
    expect(started).toEqual(['leagues schedule']);
  });

  it('puts runs off during a pause and makes each up once after it', async () => {
    const { clock, pause, poller, started, endRun } = createStage();
    pause.extend(clock.now() + 30 * MINUTE);
    for (const kind of ['profile', 'leagues', 'leagues', 'profile'] as const) poller.request(kind, 'schedule');
    await clock.advance(30 * MINUTE - 1);
    poller.resume();
    await setImmediate();
    expect(started).toEqual([]);
    await clock.advance(1);
    poller.resume();
    poller.resume();
    await endRun();
    await endRun();
    poller.resume();
    await poller.idle();
    expect(started).toEqual(['leagues catch-up', 'profile catch-up']);
  });

  it('makes up a run that failed because of a pause', async () => {
    const { clock, pause, poller, started, outcomes, endRun } = createStage();
    const until = clock.now() + 10 * MINUTE;
    poller.request('leagues', 'schedule');
    pause.extend(until);
    await endRun({ error: askingToWait(until), putOff: true });
    poller.resume();
    expect(outcomes).toEqual(['failed']);
    await clock.advance(10 * MINUTE);
    poller.resume();
    await endRun();
    expect(started).toEqual(['leagues schedule', 'leagues catch-up']);
    expect(outcomes).toEqual(['failed', 'unchanged']);
  });

  it('leaves a run to its schedule that waited out a short pause and failed all the same', async () => {
    const { clock, pause, poller, started, endRun } = createStage();
    const until = clock.now() + 1_000;
    poller.request('leagues', 'schedule');
    pause.extend(until);
    await endRun({ error: askingToWait(until), putOff: false });
    await clock.advance(MINUTE);
    poller.resume();
    await endRun();
    await poller.idle();
    expect(started).toEqual(['leagues schedule']);
  });

  it('makes up a run that the credentials failed once nothing speaks against it any more, and once only', async () => {
    const { poller, started, endRun, object } = createStage();
    const error = new CredentialsError('The service refused the login (status 401).');
    poller.request('leagues', 'schedule');
    object(error);
    await endRun({ error, putOff: false });
    poller.resume();
    await setImmediate();
    expect(started).toEqual(['leagues schedule']);
    object(undefined);
    poller.resume();
    poller.resume();
    await endRun();
    poller.resume();
    await poller.idle();
    expect(started).toEqual(['leagues schedule', 'leagues catch-up']);
  });

  it('makes nothing up where a later run of the kind was good', async () => {
    const { poller, started, endRun } = createStage();
    poller.request('profile', 'schedule');
    await endRun({ error: new CredentialsError('refused'), putOff: false });
    poller.request('profile', 'schedule');
    await endRun();
    poller.resume();
    await poller.idle();
    expect(started).toEqual(['profile schedule', 'profile schedule']);
  });

  it('keeps what it was asked before a run fell over', async () => {
    const started: RunKind[] = [];
    const poller = new Poller({
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
      pause: createRetryAfter(createTestClock()),
      objection: () => undefined,
      log: createTestLog().log,
      signal: new AbortController().signal,
    });
    poller.request('leagues', 'start');
    poller.request('profile', 'start');
    await poller.idle();
    expect(started).toEqual(['leagues', 'profile']);
    expect(poller.running()).toBeUndefined();
  });

  it('begins nothing new once it is told to stop', async () => {
    const { poller, started, endRun, stop } = createStage();
    poller.request('leagues', 'schedule');
    poller.request('profile', 'schedule');
    await setImmediate();
    stop.abort(new StoppedError());
    await endRun();
    poller.request('leagues', 'manual');
    await poller.idle();
    expect(started).toEqual(['leagues schedule']);
  });
});
