import { describe, expect, it } from 'vitest';
import { CredentialsError, DatabaseError, StatusError } from '../../src/errors.ts';
import { Monitor } from '../../src/observe/monitor.ts';
import type { RunReport } from '../../src/sync/report.ts';
import { parseSchedule } from '../../src/time/cron.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { makeMonitorSources } from '../support/monitor-sources.ts';
import { ended, makeReport as reportOf } from '../support/run-report.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const STALE_AFTER = 17 * MINUTE;

function createStage() {
  const clock = createTestClock();
  let refused: { readonly message: string } | undefined;
  let fault: DatabaseError | undefined;
  const monitor = new Monitor(
    {
      baseUrl: 'http://127.0.0.1:1',
      scope: 'all',
      database: 'leagues.db',
      schedule: parseSchedule('*/5 * * * *', 'UTC'),
      profileSchedule: 'off',
      runTimeoutMs: 2 * MINUTE,
      staleAfterMs: STALE_AFTER,
    },
    clock,
  );
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
    verdict: () => monitor.verdict(),
  };
  const refuse = (message: string | undefined): void => {
    refused = message === undefined ? undefined : { message };
  };
  const harm = (error: DatabaseError | undefined): void => {
    fault = error;
  };
  const reasons = () => health.verdict().reasons.map(({ reason }) => reason);
  return { clock, health, reasons, refuse, harm };
}

describe('the health', () => {
  it('is `starting` until the database is open, then `no-good-poll`', () => {
    const { health, reasons } = createStage();
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
    const { health } = createStage();
    health.open(undefined, 0);
    health.noteRun(reportOf({ outcome }));
    expect(health.verdict().ready).toBe(true);
  });

  it.each<readonly [string, (stage: ReturnType<typeof createStage>) => void]>([
    ['of this process', ({ health }) => health.noteRun(reportOf())],
    ['of the one before', ({ clock, health }) => health.open(clock.now(), 0)],
  ])('is stale to the millisecond after the last good poll %s, and fresh with the next one', async (_, succeed) => {
    const stage = createStage();
    const { clock, health, reasons } = stage;
    health.open(undefined, 0);
    succeed(stage);
    await clock.advance(STALE_AFTER - 1);
    expect(reasons()).toEqual([]);
    await clock.advance(1);
    expect(health.verdict().reasons).toEqual([
      {
        reason: 'stale',
        message: 'The last good poll was at 2026-11-20T12:00:00.000Z, 17 min ago; data counts as stale after 17 min.',
      },
    ]);
    health.noteRun(reportOf());
    expect(reasons()).toEqual([]);
  });

  it('counts from when the last good poll was, and not from the start', () => {
    const { clock, health, reasons } = createStage();
    health.open(clock.now() - STALE_AFTER, 0);
    expect(reasons()).toEqual(['stale']);
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
    const { clock, health, reasons } = createStage();
    health.open(undefined, 0);
    health.noteRun(reportOf());
    clock.step(STALE_AFTER);
    expect(reasons()).toEqual(['stale']);
    health.noteRun(reportOf());
    expect(reasons()).toEqual([]);
  });

  it('names the database while the last poll failed for it, and no longer', () => {
    const { health } = createStage();
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
    const { health, harm } = createStage();
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
    expect(health.verdict()).toMatchObject({ state: 'warning', headline: 'Up to date, but the last poll failed' });
  });

  it('names rejected credentials at once, even if no poll has asked for a token', () => {
    const { health, reasons, refuse } = createStage();
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

  it('names every reason', async () => {
    const { clock, health, reasons, refuse } = createStage();
    health.open(clock.now(), 0);
    await clock.advance(HOUR);
    refuse('The service refused the login.');
    health.noteRun(reportOf({ error: new DatabaseError('The disk is full.') }));
    expect(reasons()).toEqual(['database', 'credentials-refused', 'stale']);
  });
});

describe('the monitor', () => {
  type Watched = { readonly resource?: 'leagues' | 'profile'; readonly pollAgeMs?: number };

  function createWatched(staleAfterMs: number | undefined, { resource, pollAgeMs = 0 }: Watched = {}) {
    const clock = createTestClock();
    const begunAt = clock.now();
    const nextTimes = (count: number) => Array.from({ length: count }, (_, index) => clock.now() + (index + 1) * HOUR);
    const schedule = {
      expression: '',
      timezone: 'UTC',
      nextTime: () => nextTimes(1)[0] ?? 0,
      nextTimes,
      // Scheduled times were more frequent before the start.
      nthTimeAfter: (at: number, count: number) => at + count * (pollAgeMs > 0 && at >= begunAt ? 24 * HOUR : HOUR),
    };
    const monitor = new Monitor(
      {
        baseUrl: 'http://127.0.0.1:1',
        scope: 'all',
        database: 'leagues.db',
        schedule,
        profileSchedule: 'off',
        runTimeoutMs: 2 * MINUTE,
        staleAfterMs,
      },
      clock,
    );
    const refusal = () => resource && { message: 'forbidden', resource };
    monitor.open(makeMonitorSources({ refusal, lastSuccessAt: clock.now() - pollAgeMs }));
    return { clock, reasons: () => monitor.verdict().reasons.map(({ reason }) => reason) };
  }

  it.each([
    ['the third scheduled time plus the run timeout', undefined, 3 * HOUR + 2 * MINUTE],
    ['LEAGUE_SYNC_STALE_AFTER, where it is set,', 10 * MINUTE, 10 * MINUTE],
  ])('holds data for stale after %s to the millisecond', async (_, setting, staleAfterMs) => {
    const { clock, reasons } = createWatched(setting);
    await clock.advance(staleAfterMs - 1);
    expect(reasons()).toEqual([]);
    await clock.advance(1);
    expect(reasons()).toEqual(['stale']);
  });

  it('counts scheduled times from the last successful poll, and not from the start that finds it', async () => {
    const { clock, reasons } = createWatched(undefined, { pollAgeMs: 2 * HOUR });
    await clock.advance(HOUR + 2 * MINUTE - 1);
    expect(reasons()).toEqual([]);
    await clock.advance(1);
    expect(reasons()).toEqual(['stale']);
  });

  it('is ready though the profile is forbidden, but not if the leagues are', () => {
    expect(createWatched(HOUR, { resource: 'profile' }).reasons()).toEqual([]);
    expect(createWatched(HOUR, { resource: 'leagues' }).reasons()).toEqual(['credentials-refused']);
  });
});
