import { expect, it } from 'vitest';
import { findCredentials } from '../../src/config/credentials.ts';
import { createConnection } from '../../src/service/connection.ts';
import { createLogIn, type LoginRecord } from '../../src/service/login.ts';
import { createTestClock } from '../support/clock.ts';
import { createAnswer } from '../support/unit-answer.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const credentials = findCredentials({ LEAGUE_SYNC_USERNAME: 'player', LEAGUE_SYNC_PASSWORD: 'secret-password' });
const CONFIG = { baseUrl: 'https://api.example.com', proxy: undefined, attemptTimeoutMs: 1_000, maxBodyBytes: 1_000 };
const body = JSON.stringify({
  result: 'success',
  access_token: 'the-one-token',
  expire_datetime: '2026-11-20T13:00:00Z',
});

/** Logs in at this local time, when the service's clock shows noon. */
async function logInAt(wallAt: number) {
  const clock = createTestClock(wallAt);
  const recorded: LoginRecord[] = [];
  const send = async () => createAnswer(body, { headers: { date: new Date(NOON).toUTCString() } });
  const connection = createConnection(CONFIG, { system: { clock, random: () => 0, send } });
  const logIn = createLogIn(connection, (login) => recorded.push(login));
  const token = await logIn({ reason: 'manual', runId: () => null }, credentials, new AbortController().signal);
  return { recorded: recorded[0]?.clockSkewMs, token };
}

// The service sends whole seconds: the middle of the second is the best estimate.
it.each([
  [0, 0],
  [499, 0],
  [1_000, 0],
  [1_499, 0],
  [-499, 0],
  [-500, 1_000],
  [1_500, -1_000],
  [60_500, -60_000],
  [-7_200_000, 7_200_500],
])('a local clock that is %i ms ahead has a skew of %i ms', async (aheadMs, skewMs) => {
  const { recorded, token } = await logInAt(NOON + aheadMs);
  expect([recorded, token.clockSkewMs]).toEqual([skewMs, skewMs]);
  // Only the service's clock decides how long a token lives.
  expect(token.lifetimeMs).toBe(3_600_000);
});
