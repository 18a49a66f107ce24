import { describe, expect, it } from 'vitest';
import { CredentialsError, DatabaseError, StatusError } from '../../src/errors.ts';
import { describeStatus } from '../../src/observe/status-json.ts';
import type { Resource } from '../../src/service/session-backoff.ts';
import type { RunReport } from '../../src/sync/report.ts';
import { formatTimestamp } from '../../src/time/clock.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { HOUR, MINUTE } from '../support/durations.ts';
import { createTestMonitor, makeMonitorSources, STALE_AFTER } from '../support/monitor-sources.ts';
import { ended, makeReport } from '../support/run-report.ts';

function createStage(known: Parameters<typeof makeMonitorSources>[0] = {}) {
  const clock = createTestClock();
  let refused: { readonly message: string } | undefined;
  let fault: DatabaseError | undefined;
  const { open, onEvent, state } = createTestMonitor(clock);
  const openWith = (more: typeof known = {}): void =>
    open(makeMonitorSources({ refusal: () => refused, fault: () => fault, ...known, ...more }));
  openWith();
  /** A poll that succeeds now, or fails with this error. */
  const poll = (more: Partial<RunReport> = {}): void => {
    const now = clock.now();
    const timestamps = { finishedAt: formatTimestamp(now), staleAt: formatTimestamp(now + STALE_AFTER) };
    const isGood = more.error === undefined && more.outcome !== 'interrupted';
    onEvent(ended(makeReport({ ...(isGood ? timestamps : {}), ...more })));
  };
  return {
    clock,
    onEvent,
    openWith,
    poll,
    verdict: () => state().verdict,
    reasons: () => state().verdict.reasons.map(({ reason }) => reason),
    refuse: (message: string | undefined): void => {
      refused = message === undefined ? undefined : { message };
    },
    harm: (error: DatabaseError | undefined): void => {
      fault = error;
    },
  };
}

describe('the health', () => {
  it('is `starting` until the database is open, then `no-good-poll`', () => {
    expect(createTestMonitor(createTestClock()).state().verdict).toMatchObject({
      ready: false,
      reasons: [{ reason: 'starting' }],
    });
    const { poll, reasons, verdict } = createStage();
    expect(reasons()).toEqual(['no-good-poll']);
    poll({ error: new StatusError(true, 'down') });
    poll({ kind: 'profile' });
    poll({ outcome: 'interrupted' });
    expect(reasons()).toEqual(['no-good-poll']);
    poll();
    expect(verdict()).toMatchObject({ ready: true, reasons: [] });
  });

  it.each<readonly [string, (stage: ReturnType<typeof createStage>) => void]>([
    ['of this process', ({ poll }) => poll({ outcome: 'held' })],
    ['of the one before', ({ clock, openWith }) => openWith({ lastSuccessAt: clock.now() })],
  ])('is stale to the millisecond after the last good poll %s, and fresh with the next one', async (_, succeed) => {
    const stage = createStage();
    const { clock, poll, reasons, verdict } = stage;
    succeed(stage);
    await clock.advance(STALE_AFTER - 1);
    expect(reasons()).toEqual([]);
    await clock.advance(1);
    expect(verdict()).toMatchObject({
      headline: 'Stale: the last good poll was 17 min ago',
      reasons: [{ reason: 'stale', message: 'No poll of the leagues has succeeded in time.' }],
    });
    poll();
    expect(reasons()).toEqual([]);
  });

  it.each<readonly [string, (clock: TestClock) => number, number]>([
    ['the clock was set back meanwhile', (clock) => clock.now(), STALE_AFTER],
    ['the clock was ahead before the start', (clock) => clock.now() + 24 * HOUR, STALE_AFTER],
    ['it is old already, and the clock was set back', (clock) => clock.now() - STALE_AFTER + MINUTE, MINUTE],
  ])('grows stale, too, if %s', async (_, successAt, leftMs) => {
    const { clock, openWith, reasons } = createStage();
    openWith({ lastSuccessAt: successAt(clock) });
    clock.step(-HOUR);
    await clock.advance(leftMs - 1);
    expect(reasons()).toEqual([]);
    await clock.advance(1);
    expect(reasons()).toEqual(['stale']);
  });

  it('is stale if the clock is set ahead, or the machine was suspended, until the next good poll', () => {
    const { clock, poll, reasons } = createStage();
    poll();
    clock.step(STALE_AFTER);
    expect(reasons()).toEqual(['stale']);
    poll();
    expect(reasons()).toEqual([]);
  });

  it('counts the time in which data is fresh from a poll after a step back, whose end is kept behind the last one', async () => {
    const { clock, poll, reasons } = createStage();
    poll({ finishedAt: formatTimestamp(clock.now() + STALE_AFTER / 2) });
    await clock.advance(STALE_AFTER - 1_000);
    expect(reasons()).toEqual([]);
    await clock.advance(1_000);
    expect(reasons()).toEqual(['stale']);
  });

  it('names the database while the last poll failed for it, and no longer', () => {
    const { poll, verdict } = createStage();
    poll();
    poll({ error: new DatabaseError('The disk is full.') });
    expect(verdict().reasons).toEqual([{ reason: 'database', message: 'The disk is full.' }]);
    poll();
    expect(verdict().ready).toBe(true);
  });

  it.each([[{ gone: true, condition: 'is gone' }], [{ busy: true, condition: 'is in use by another program' }]])(
    'says that the database %s while it is, be there a poll or not',
    (details) => {
      const { harm, poll, verdict } = createStage();
      const error = new DatabaseError('That is wrong.', details);
      poll();
      harm(error);
      expect(verdict()).toMatchObject({
        state: 'bad',
        headline: `The database ${details.condition}`,
        reasons: [{ reason: 'database', message: error.message }],
      });
      poll({ error });
      harm(undefined);
      expect(verdict().ready).toBe(true);
    },
  );

  it('names rejected credentials at once, even if no poll has asked for a token', () => {
    const { poll, reasons, refuse, verdict } = createStage();
    poll();
    refuse('The service refused the login.');
    expect(verdict().reasons).toEqual([{ reason: 'credentials-refused', message: 'The service refused the login.' }]);
    refuse(undefined);
    expect(reasons()).toEqual([]);
    poll({ error: new CredentialsError('A fresh token was rejected, too.') });
    expect(reasons()).toEqual(['credentials-refused']);
  });

  it('names rejected credentials although the next poll failed for the database, before any login', () => {
    const { onEvent, poll, reasons } = createStage();
    poll();
    const error = new CredentialsError('The service refused the login.', { httpStatus: 401 });
    onEvent({ type: 'login', login: { at: 0, reason: 'due', runId: null, outcome: 'refused', error } });
    poll({ error: new DatabaseError('The disk is full.') });
    expect(reasons()).toEqual(['database', 'credentials-refused']);
  });

  it('is ready though the profile is forbidden, but not if the leagues are', () => {
    const reasonsIf = (resource: Resource) => {
      const { poll, reasons } = createStage({ refusal: () => ({ message: 'forbidden', resource }) });
      poll();
      return reasons();
    };
    expect(reasonsIf('profile')).toEqual([]);
    expect(reasonsIf('leagues')).toEqual(['credentials-refused']);
  });
});

it('leaves out the row `stale` of the view, which knows the wall clock only, while the data is fresh', () => {
  const clock = createTestClock();
  const monitor = createTestMonitor(clock);
  const stale = { what: 'stale', since: null, count: null, summary: 'Old.', what_to_do: 'Wait.' } as const;
  monitor.open(makeMonitorSources({ lastSuccessAt: clock.now(), attention: () => [stale] }));
  expect(monitor.state()).toMatchObject({ attention: [], verdict: { state: 'good' } });
});

it('says why its rows are old when they cannot be read', () => {
  const clock = createTestClock();
  const monitor = createTestMonitor(clock);
  let isBroken = false;
  const attention = () => {
    if (isBroken) throw new DatabaseError('The view attention is broken.');
    return [];
  };
  monitor.open(makeMonitorSources({ lastSuccessAt: clock.now(), attention }));
  expect(monitor.state()).toMatchObject({ readFault: undefined, freshness: { live_leagues: 1 } });
  isBroken = true;
  expect(monitor.state()).toMatchObject({ readFault: 'The view attention is broken.', freshness: { live_leagues: 1 } });
  const {
    database,
    attention: told,
    stored,
  } = describeStatus({ ...monitor, read: () => ({ last_runs: [] }) as never });
  expect([database.fault, told, stored]).toEqual(['The view attention is broken.', null, null]);
});
