import { describe, expect, it } from 'vitest';
import { CredentialsError, type RunError, StatusError } from '../../src/errors.ts';
import type { LoginRecord } from '../../src/service/login.ts';
import { createLoginLog } from '../../src/worker/run-log.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestLog, wordsOf } from '../support/log-lines.ts';

const MINUTE = 60_000;
const EXPIRES = '2026-11-20T13:00:00.000Z';
const SHOWN = '2026-11-20T13:00:00Z';
const DOWN = new StatusError(true, 'The service answered the login with status 503.', { httpStatus: 503 });

function createStage() {
  const clock = createTestClock();
  const { log, lines } = createTestLog();
  const note = createLoginLog(log, clock);
  const granted = (more: Partial<LoginRecord> = {}): void => {
    const expiresAt = Date.parse(EXPIRES);
    note({ at: clock.now(), reason: 'due', runId: null, outcome: 'ok', expiresAt, clockSkewMs: 12, ...more });
  };
  const failed = (error: RunError = DOWN, outcome: LoginRecord['outcome'] = 'failed'): void =>
    note({ at: clock.now(), reason: 'due', runId: null, outcome, error, errorMessage: error.message });
  return { clock, lines, granted, failed, note };
}

describe('the log of the logins', () => {
  it('has no warning if the next try succeeds, and one if that fails, too', () => {
    const { lines, granted, failed } = createStage();
    failed();
    granted();
    expect(wordsOf(lines.slice(1))).toEqual([`info token renewed; expires ${SHOWN}`]);
    for (let tries = 0; tries < 4; tries += 1) failed();
    expect(lines.map(({ level }) => level)).toEqual(['debug', 'info', 'debug', 'warn', 'debug', 'debug']);
    expect(lines.find(({ level }) => level === 'warn')).toMatchObject({
      msg: `login failed (due): ${DOWN.message}`,
      failures: 2,
      reason: 'due',
      outcome: 'failed',
      err: { kind: 'status' },
    });
  });

  it('logs a lasting failure once, and its end once', async () => {
    const { clock, lines, granted, failed } = createStage();
    failed();
    for (let minute = 0; minute < 30; minute += 1) {
      failed();
      await clock.advance(MINUTE);
    }
    granted();
    granted();
    const loud = lines.filter(({ level }) => level !== 'debug');
    expect(wordsOf(loud)).toEqual([
      `warn login failed (due): ${DOWN.message}`,
      `info token renewed; expires ${SHOWN}; recovered after 31 failed logins in 30 min`,
      `info token renewed; expires ${SHOWN}`,
    ]);
  });

  it('logs rejected credentials at once, although logins have been failing', () => {
    const { lines, failed } = createStage();
    failed();
    failed();
    failed(new CredentialsError('The service refused the login.', { httpStatus: 401 }), 'refused');
    expect(wordsOf(lines).at(-1)).toBe('warn login refused (due): The service refused the login.');
  });

  it('logs an aborted login only at debug level', () => {
    const { lines, note } = createStage();
    note({ at: 0, reason: 'start', runId: 1, outcome: 'failed', errorMessage: 'The login was interrupted.' });
    expect(wordsOf(lines)).toEqual(['debug login failed (start): The login was interrupted.']);
  });

  it.each<readonly [LoginRecord['reason'], string]>([
    ['start', 'logged in (start); token expires'],
    ['manual', 'logged in (manual); token expires'],
    ['due', 'token renewed; expires'],
    ['rejected-token', 'logged in again (token rejected); token expires'],
  ])('says why there was one: %s', (reason, words) => {
    const { lines, granted } = createStage();
    granted({ reason });
    expect(lines).toMatchObject([{ msg: `${words} ${SHOWN}`, reason, outcome: 'ok', expires_at: EXPIRES }]);
  });

  it.each<readonly [string, Partial<LoginRecord>, RegExp]>([
    ['no expiry', { expiresAt: undefined }, /^token renewed, but the service sent no readable expire_datetime; /],
    ['a dead token', { expiredOnArrival: true }, /^token renewed, but the token has expired already \(2026/],
    ['a clock ahead', { clockSkewMs: 120_000 }, /; the service's clock is 2 min ahead of this machine's; tokens /],
    ['a clock behind', { clockSkewMs: -60_001 }, /; the service's clock is 60 s behind this machine's; tokens /],
  ])('warns of a login with %s', (_, more, words) => {
    const { lines, granted } = createStage();
    granted(more);
    expect(lines).toMatchObject([{ level: 'warn', msg: expect.stringMatching(words) }]);
  });

  it('does not warn of a skew of a minute', () => {
    const { lines, granted } = createStage();
    granted({ clockSkewMs: -60_000 });
    expect(lines).toMatchObject([{ level: 'info', expires_at: EXPIRES, clock_skew_ms: -60_000 }]);
  });
});
