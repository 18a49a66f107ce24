import { describe, expect, it } from 'vitest';
import { CredentialsError, DatabaseError, StatusError } from '../../src/errors.ts';
import { describeStatus } from '../../src/observe/json-api.ts';
import type { Resource } from '../../src/service/session-backoff.ts';
import type { RunReport } from '../../src/sync/report.ts';
import { formatTimestamp } from '../../src/time/clock.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestMonitor, makeMonitorSources, STALE_AFTER } from '../support/monitor-sources.ts';
import { ended, makeReport } from '../support/run-report.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function createStage() {
  const clock = createTestClock();
  let refused: { readonly message: string } | undefined;
  let fault: DatabaseError | undefined;
  const monitor = createTestMonitor(clock);
  const health = {
    open: (lastSuccessAt: number | undefined, consecutiveFailures: number): void =>
      monitor.open(
        makeMonitorSources({
          lastSuccessAt,
          consecutiveFailures,
          refusal: () => refused,
          fault: () => fault,
        }),
      ),
    noteRun: (report: RunReport): void => monitor.onEvent(ended(report)),
    verdict: () => monitor.state().verdict,
  };
  const refuse = (message: string | undefined): void => {
    refused = message === undefined ? undefined : { message };
  };
  const harm = (error: DatabaseError | undefined): void => {
    fault = error;
  };
  /** The report of a poll that succeeds now, or fails with this error. */
  const reportOf = (more: Partial<RunReport> = {}): RunReport => {
    const now = clock.now();
    const timestamps = { finishedAt: formatTimestamp(now), staleAt: formatTimestamp(now + STALE_AFTER) };
    const isGood = more.error === undefined && more.outcome !== 'interrupted';
    return makeReport({ ...(isGood ? timestamps : {}), ...more });
  };
  const reasons = () => health.verdict().reasons.map(({ reason }) => reason);
  return { clock, monitor, health, reasons, refuse, harm, reportOf };
}

describe('the health', () => {
  it('is `starting` until the database is open, then `no-good-poll`', () => {
    const { health, reasons, reportOf } = createStage();
    expect(health.verdict()).toMatchObject({ ready: false, reasons: [{ reason: 'starting' }] });
    health.open(undefined, 0);
    expect(reasons()).toEqual(['no-good-poll']);
    health.noteRun(reportOf({ error: new StatusError(true, 'down') }));
    health.noteRun(reportOf({ kind: 'profile' }));
    health.noteRun(reportOf({ outcome: 'interrupted' }));
    expect(reasons()).toEqual(['no-good-poll']);
    health.noteRun(reportOf());
    expect(health.verdict()).toMatchObject({ ready: true, reasons: [] });
  });

  it.each(['changed', 'unchanged', 'held'] as const)('takes a poll for good that is %s', (outcome) => {
    const { health, reportOf } = createStage();
    health.open(undefined, 0);
    health.noteRun(reportOf({ outcome }));
    expect(health.verdict().ready).toBe(true);
  });

  it.each<readonly [string, (stage: ReturnType<typeof createStage>) => void]>([
    ['of this process', ({ health, reportOf }) => health.noteRun(reportOf())],
    ['of the one before', ({ clock, health }) => health.open(clock.now(), 0)],
  ])('is stale to the millisecond after the last good poll %s, and fresh with the next one', async (_, succeed) => {
    const stage = createStage();
    const { clock, health, reasons, reportOf } = stage;
    health.open(undefined, 0);
    succeed(stage);
    await clock.advance(STALE_AFTER - 1);
    expect(reasons()).toEqual([]);
    await clock.advance(1);
    expect(health.verdict()).toMatchObject({
      headline: 'Stale: the last good poll was 17 min ago',
      reasons: [{ reason: 'stale', message: 'No poll of the leagues has succeeded in time.' }],
    });
    health.noteRun(reportOf());
    expect(reasons()).toEqual([]);
  });

  it.each<readonly [string, (clock: TestClock) => number]>([
    ['set back meanwhile', (clock) => clock.now()],
    ['ahead before the start', (clock) => clock.now() + 24 * HOUR],
  ])('grows stale, too, if the clock was %s', async (_, successAt) => {
    const { clock, health, reasons } = createStage();
    health.open(successAt(clock), 0);
    clock.step(-HOUR);
    await clock.advance(STALE_AFTER - 1);
    expect(reasons()).toEqual([]);
    await clock.advance(1);
    expect(reasons()).toEqual(['stale']);
  });

  it('counts the age at the start, too, if the clock is set back after it', async () => {
    const { clock, health, reasons } = createStage();
    health.open(clock.now() - STALE_AFTER + MINUTE, 0);
    clock.step(-HOUR);
    await clock.advance(MINUTE - 1);
    expect(reasons()).toEqual([]);
    await clock.advance(1);
    expect(reasons()).toEqual(['stale']);
  });

  it('is stale if the clock is set ahead, or the machine was suspended, until the next good poll', () => {
    const { clock, health, reasons, reportOf } = createStage();
    health.open(undefined, 0);
    health.noteRun(reportOf());
    clock.step(STALE_AFTER);
    expect(reasons()).toEqual(['stale']);
    health.noteRun(reportOf());
    expect(reasons()).toEqual([]);
  });

  it('names the database while the last poll failed for it, and no longer', () => {
    const { health, reportOf } = createStage();
    health.open(undefined, 0);
    health.noteRun(reportOf());
    health.noteRun(reportOf({ error: new DatabaseError('The disk is full.') }));
    expect(health.verdict().reasons).toEqual([{ reason: 'database', message: 'The disk is full.' }]);
    health.noteRun(reportOf());
    expect(health.verdict().ready).toBe(true);
  });

  it.each([
    ['is gone', new DatabaseError('The file was deleted.', { gone: true, condition: 'is gone' })],
    [
      'is in use by another program',
      new DatabaseError('It is locked.', { busy: true, condition: 'is in use by another program' }),
    ],
  ])('says that the database %s while it is, be there a poll or not', (what, error) => {
    const { health, harm, reportOf } = createStage();
    health.open(undefined, 0);
    health.noteRun(reportOf());
    harm(error);
    expect(health.verdict()).toMatchObject({
      state: 'bad',
      headline: `The database ${what}`,
      reasons: [{ reason: 'database', message: error.message }],
    });
    health.noteRun(reportOf({ error }));
    harm(undefined);
    expect(health.verdict().ready).toBe(true);
  });

  it('names rejected credentials at once, even if no poll has asked for a token', () => {
    const { health, reasons, refuse, reportOf } = createStage();
    health.open(undefined, 0);
    health.noteRun(reportOf());
    refuse('The service refused the login.');
    expect(health.verdict().reasons).toEqual([
      { reason: 'credentials-refused', message: 'The service refused the login.' },
    ]);
    refuse(undefined);
    expect(reasons()).toEqual([]);
    health.noteRun(reportOf({ error: new CredentialsError('A fresh token was rejected, too.') }));
    expect(reasons()).toEqual(['credentials-refused']);
  });

  it('is ready though the profile is forbidden, but not if the leagues are', () => {
    const { clock, monitor } = createStage();
    const reasonsIf = (resource: Resource) => {
      monitor.open(
        makeMonitorSources({ refusal: () => ({ message: 'forbidden', resource }), lastSuccessAt: clock.now() }),
      );
      return monitor.state().verdict.reasons.map(({ reason }) => reason);
    };
    expect(reasonsIf('profile')).toEqual([]);
    expect(reasonsIf('leagues')).toEqual(['credentials-refused']);
  });
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
  expect(monitor.state()).toMatchObject({
    readFault: 'The view attention is broken.',
    freshness: { live_leagues: 1 },
  });
  const {
    database,
    attention: told,
    stored,
  } = describeStatus({ ...monitor, read: () => ({ last_runs: [] }) as never });
  expect([database.fault, told, stored]).toEqual(['The view attention is broken.', null, null]);
});
