import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CredentialsError } from '../../src/errors.ts';
import { createSession } from '../../src/service/session.ts';
import { createTestClock } from '../support/clock.ts';

const HOUR = 3_600_000;
const RESOURCES = ['leagues', 'profile'] as const;
const { signal } = new AbortController();

it('in every order of five askers and their answers, one login at a time gives each of them a token that works', async () => {
  const asker = fc.constantFrom(...RESOURCES, 'renewal' as const, 'SIGHUP' as const);
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(asker, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      async (scheduler, askers, isRevoked) => {
        const clock = createTestClock();
        /** The logins so far, the token that the service accepts, and how many logins are in progress. */
        let [logins, valid, atOnce, most] = [0, 0, 0, 0];
        const session = createSession({
          logIn: async () => {
            most = Math.max(most, ++atOnce);
            logins += 1;
            const number = logins;
            await scheduler.schedule(Promise.resolve(), `login ${number}`);
            atOnce -= 1;
            valid = number;
            const sentAt = { wall: clock.now(), monotonic: clock.monotonic() };
            const life = { lifetimeMs: HOUR, expiresAt: sentAt.wall + HOUR, clockSkewMs: undefined };
            return { accessToken: String(number), sentAt, loginDurationMs: 0, ...life };
          },
          credentials: { read: () => ({ username: 'player', password: 'secret' }) },
          ...{ clock, signal, leewayMs: 0, firstReason: 'start', loginTimeoutMs: HOUR },
        });
        const request = (resource: (typeof RESOURCES)[number]) =>
          session.request(resource, { signal }, async ({ accessToken }) => {
            await scheduler.schedule(Promise.resolve(), `answer for token ${accessToken}`);
            if (accessToken === String(valid)) return { result: Number(accessToken) };
            return { rejection: new CredentialsError('The token was rejected.', { httpStatus: 401 }) };
          });
        const ask = async (who: (typeof askers)[number]): Promise<number> => {
          await scheduler.schedule(Promise.resolve(), `${who} begins`);
          if (who === 'SIGHUP') session.retryNow();
          else if (who !== 'renewal') return request(who);
          return Number((await session.token('leagues', { signal })).accessToken);
        };
        // The service forgets the token that it gave out, once.
        const revoke = scheduler.schedule(Promise.resolve(), 'revoke').then(() => {
          if (isRevoked) valid = Number.NaN;
        });
        const tokens = await scheduler.waitFor(Promise.all(askers.map(ask)));
        await scheduler.waitFor(revoke);
        expect(most).toBe(1);
        expect(logins).toBeLessThanOrEqual(isRevoked ? 2 : 1);
        expect(tokens.every((token) => token >= 1 && token <= logins)).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});
