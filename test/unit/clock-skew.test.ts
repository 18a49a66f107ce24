import { expect, it } from 'vitest';
import { createCredentials } from '../../src/config/credentials.ts';
import { createLogIn, type LoginRecord } from '../../src/service/login.ts';
import { connect } from '../../src/service/service.ts';
import { createTestClock } from '../support/clock.ts';
import { createAnswer } from '../support/unit-answer.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const credentials = createCredentials({ value: 'player' }, { value: 'secret-password' });
const body = JSON.stringify({
  result: 'success',
  access_token: 'the-one-token',
  expire_datetime: '2026-11-20T13:00:00Z',
});

/** Logs in at this instant of ours, when the service's clock shows noon. */
async function logInAt(wallAt: number) {
  const clock = createTestClock(wallAt);
  const recorded: LoginRecord[] = [];
  const transport = async () => createAnswer(body, { headers: { date: new Date(NOON).toUTCString() } });
  const connection = connect(transport, {}, { clock, random: () => 0 });
  const logIn = createLogIn({ ...connection, onLogin: (login) => recorded.push(login) });
  const token = await logIn('manual', credentials, new AbortController().signal);
  return { recorded: recorded[0]?.clockSkewMs, token };
}

// The service counts whole seconds: the middle of its second is what it most likely means.
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
])('a clock of ours that shows %i ms past that of the service differs by %i ms', async (aheadMs, skewMs) => {
  const { recorded, token } = await logInAt(NOON + aheadMs);
  expect([recorded, token.clockSkewMs]).toEqual([skewMs, skewMs]);
  // How long a token lives is for the service's clock alone to say.
  expect(token.lifetimeMs).toBe(3_600_000);
});
