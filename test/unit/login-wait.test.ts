import { expect, it } from 'vitest';
import { findLoginWait } from '../../src/sync/login-wait.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const MINUTE = 60_000;
const LONG_AGO = 0;

/** So many refused logins, the last of them at noon. */
const refused = (count: number) =>
  Array<Parameters<typeof findLoginWait>[0][number]>(count).fill({
    at: new Date(NOON).toISOString(),
    error_kind: 'credentials',
    error_message: 'The service refused the login (status 401).',
    http_status: 401,
  });

it.each([
  [1, 1],
  [2, 2],
  [3, 4],
  [6, 32],
  [7, 60],
  [9, 60],
])('after %i refused logins, the next waits for %i min, and says until when', (count, minutes) => {
  const end = NOON + minutes * MINUTE;
  const error = findLoginWait(refused(count), LONG_AGO, end - 1);
  expect(error).toMatchObject({ kind: 'credentials', httpStatus: 401 });
  expect(error?.message).toContain(`Nothing was sent; the next try may be made at ${new Date(end).toISOString()}`);
  expect(findLoginWait(refused(count), LONG_AGO, end)).toBeUndefined();
});

it.each([
  ['without an earlier one', 0, LONG_AGO, NOON],
  ['after a reason to try again, such as a changed secret', 3, NOON + 1, NOON + 2],
  ['if the clock was set back', 3, LONG_AGO, NOON - 1],
])('a login waits for nothing %s', (_, count, reasonAt, now) => {
  expect(findLoginWait(refused(count), reasonAt, now)).toBeUndefined();
});
