import { randomBytes } from 'node:crypto';

// Enough to tell an expired token from an unknown one, few enough to keep memory bounded under a hammering client.
const KEPT_TOKENS = 10_000;

/** What the service knows of the token that a request carries. */
export type TokenState = 'none' | 'valid' | 'expired' | 'unknown';

export type TokenIssuer = ReturnType<typeof createTokenIssuer>;

/** Issues random access tokens and knows until when each one is good. The newest 10,000 are remembered. */
export function createTokenIssuer(initialLifeMs: number) {
  const expiries = new Map<string, number>();
  let lifeMs = initialLifeMs;
  return {
    /** `expiresAt` is in milliseconds since the epoch; from then on the access token is refused. */
    issue(now: number) {
      const issued = { accessToken: randomToken(), refreshToken: randomToken(), expiresAt: now + lifeMs };
      expiries.set(issued.accessToken, issued.expiresAt);
      const [oldest] = expiries.keys();
      if (expiries.size > KEPT_TOKENS && oldest !== undefined) expiries.delete(oldest);
      return issued;
    },
    check(token: string | undefined, now: number): TokenState {
      if (token === undefined) return 'none';
      const expiresAt = expiries.get(token);
      if (expiresAt === undefined) return 'unknown';
      return now < expiresAt ? 'valid' : 'expired';
    },
    /** Makes every token issued so far unknown. */
    revokeAll: () => expiries.clear(),
    /** The life of the tokens issued from now on. With 0 they are issued expired. */
    setLife(next: number) {
      lifeMs = next;
    },
  };
}

function randomToken(): string {
  return randomBytes(32).toString('base64url');
}
