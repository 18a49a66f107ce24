import { describe, expect, it } from 'vitest';
import { ContractError, CredentialsError, type RunError, StatusError } from '../../src/errors.ts';
import { NO_COUNTS, type RunReport } from '../../src/sync/report.ts';
import { createRunLog } from '../../src/worker/run-log.ts';
import { createTestClock } from '../support/clock.ts';
import { HOUR, MINUTE } from '../support/durations.ts';
import { createTestLog, wordsOf } from '../support/log-lines.ts';
import { makeReport } from '../support/run-report.ts';

const BEGAN = '2026-11-20T12:00:00Z';
const DOWN = 'The service answered with status 503.';

const down = (message = DOWN): RunError => new StatusError(true, message, { httpStatus: 503 });

function reportOf(more: Partial<RunReport> = {}): RunReport {
  const counts = more.error === undefined ? { ...NO_COUNTS, received: 3, unchanged: 3 } : NO_COUNTS;
  return makeReport({ counts, ...more });
}

function createStage() {
  const clock = createTestClock();
  const { log, lines } = createTestLog();
  const note = createRunLog(log, clock);
  /** Reports identical failed polls, the first of them now. */
  const failFor = async (ms: number, everyMs: number): Promise<void> => {
    for (let left = ms; left > 0; left -= everyMs) {
      note(reportOf({ error: down() }));
      await clock.advance(everyMs);
    }
  };
  return { clock, lines, note, failFor };
}

describe('the log of the runs', () => {
  it('has one line per run, with its counts and duration', async () => {
    const { lines, note, failFor } = createStage();
    note(reportOf());
    await failFor(10 * MINUTE, MINUTE);
    note(reportOf({ outcome: 'changed', counts: { ...NO_COUNTS, received: 4, added: 1, unchanged: 3 } }));
    expect(lines).toHaveLength(12);
    for (const line of lines)
      expect(line).toMatchObject({ run_id: 7, kind: 'leagues', duration_ms: 20, attempts: 1, removed: 0 });
    expect(lines.map(({ outcome }) => outcome)).toEqual(['unchanged', ...Array(10).fill('failed'), 'changed']);
    expect(lines.filter(({ level }) => level === 'debug')).toEqual([]);
  });

  it('logs a failure in full once, then briefly, however long it lasts', async () => {
    const { lines, failFor } = createStage();
    await failFor(4 * HOUR, MINUTE);
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect(wordsOf(lines.slice(0, 3))).toEqual([
      `warn leagues: failed. ${DOWN}`,
      ...[2, 3].map((polls) => `info leagues: failed as before (20 ms); ${polls} failed polls since ${BEGAN}`),
    ]);
    expect(lines[0]).toMatchObject({ failures: 1, error_kind: 'status', err: { message: DOWN, http_status: 503 } });
    expect(lines[1]).toMatchObject({ failures: 2, error_kind: 'status' });
    expect(lines[1]).not.toHaveProperty('err');
  });

  it('logs the recovery once, with the number of failures and the duration', async () => {
    const { lines, note, failFor } = createStage();
    await failFor(12 * MINUTE, 6 * MINUTE);
    note(reportOf());
    note(reportOf());
    const good = 'info leagues: unchanged: 3 received (20 ms)';
    expect(wordsOf(lines.slice(2))).toEqual([`${good}; recovered after 2 failed polls in 12 min`, good]);
    note(reportOf({ error: down() }));
    expect(wordsOf(lines.slice(4))).toEqual([`warn leagues: failed. ${DOWN}`]);
  });

  it.each<readonly [string, RunError, RunError]>([
    ['of another kind', down(), new ContractError(DOWN, { httpStatus: 503 })],
    ['of another status', down(), new StatusError(true, DOWN, { httpStatus: 502 })],
    ['with another fix', down(), new StatusError(true, DOWN, { httpStatus: 503, fix: 'check LEAGUE_SYNC_BASE_URL' })],
  ])('tells a failure %s at once, and neither again while they take turns', (_, one, other) => {
    const { lines, note } = createStage();
    for (const error of [one, other, one, other, one]) note(reportOf({ error }));
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'info', 'info', 'info']);
  });

  it.each<readonly [string, RunError, RunError]>([
    [
      'but for numbers',
      down('No answer within 4000 ms from 10.0.0.7:80.'),
      down('No answer within 3998 ms from [::1].'),
    ],
    ['while a refusal makes it wait', refused(), waiting()],
  ])('takes a failure for the same one %s', (_, one, other) => {
    const { lines, note } = createStage();
    for (const error of [one, other]) note(reportOf({ error }));
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  it('logs a failure with other words briefly, and calls it the same only if the words are the same', () => {
    const { lines, note } = createStage();
    for (const words of ['One.', 'Two.', 'Two.']) note(reportOf({ error: down(words) }));
    expect(wordsOf(lines)).toEqual([
      'warn leagues: failed. One.',
      `info leagues: failed: Two. (20 ms); 2 failed polls since ${BEGAN}`,
      `info leagues: failed as before (20 ms); 3 failed polls since ${BEGAN}`,
    ]);
  });

  it('measures by the clock that never steps', async () => {
    const { clock, lines, note } = createStage();
    note(reportOf({ error: down() }));
    clock.step(-24 * HOUR);
    await clock.advance(5 * MINUTE);
    note(reportOf());
    expect(lines[1]?.msg).toMatch(/recovered after 1 failed poll in 5 min$/);
  });

  it('counts leagues and profile apart, and a stop for nothing', () => {
    const { lines, note } = createStage();
    note(reportOf({ error: down() }));
    note(reportOf({ kind: 'profile', error: down() }));
    note(reportOf({ kind: 'profile' }));
    note(reportOf({ outcome: 'interrupted', counts: NO_COUNTS }));
    note(reportOf({ error: down() }));
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'info', 'info', 'info']);
    expect(lines[2]?.msg).toMatch(/^profile: unchanged \(20 ms\); recovered after 1 failed poll in /);
    expect(lines[4]).toMatchObject({ failures: 2 });
  });

  it('warns of removals that are held once, and again if others are held', () => {
    const { lines, note } = createStage();
    const hold = (held: number) =>
      note(reportOf({ outcome: 'held', heldBecause: 'so', counts: { ...NO_COUNTS, held } }));
    hold(6);
    hold(6);
    hold(7);
    note(reportOf({ error: down() }));
    hold(7);
    note(reportOf());
    hold(7);
    const held = lines.filter(({ outcome }) => outcome === 'held');
    expect(held.map(({ level }) => level)).toEqual(['warn', 'info', 'warn', 'info', 'warn']);
    expect(held[0]?.msg).toMatch(/; held because so; league-sync accept-removals shows them$/);
    expect(held[3]?.msg).toMatch(/; held because so; recovered after 1 failed poll in /);
  });
});

function refused(): CredentialsError {
  return new CredentialsError('The service refused the login.', { httpStatus: 401 });
}

function waiting(): CredentialsError {
  const message =
    'The service refused the login. The next try is at 2026-11-20T12:01:00.000Z; SIGHUP makes it at once.';
  return new CredentialsError(message, { httpStatus: 401, cause: refused() });
}
