import { randomBytes } from 'node:crypto';

// Enough to tell an expired token from an unknown one, few enough to keep memory bounded under a hammering client.
const KEPT_TOKENS = 10_000;

/** What the service knows of the token that a request carries. */
export type TokenState = 'none' | 'valid' | 'expired' | 'unknown';

type IssuedTokens = {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Milliseconds since the epoch; from this instant on the access token is refused. */
  readonly expiresAt: number;
};

export type TokenIssuer = {
  issue(now: number): IssuedTokens;
  check(token: string | undefined, now: number): TokenState;
  /** Makes every token issued so far unknown. */
  revokeAll(): void;
  /** The life of the tokens issued from now on. With 0 they have expired at birth. */
  setLife(lifeMs: number): void;
};

/** Issues random access tokens and knows until when each one is good. The newest 10,000 are remembered. */
export function createTokenIssuer(initialLifeMs: number): TokenIssuer {
  const expiries = new Map<string, number>();
  let lifeMs = initialLifeMs;
  return {
    issue(now) {
      const issued = { accessToken: randomToken(), refreshToken: randomToken(), expiresAt: now + lifeMs };
      expiries.set(issued.accessToken, issued.expiresAt);
      const [oldest] = expiries.keys();
      if (expiries.size > KEPT_TOKENS && oldest !== undefined) expiries.delete(oldest);
      return issued;
    },
    check(token, now) {
      if (token === undefined) return 'none';
      const expiresAt = expiries.get(token);
      if (expiresAt === undefined) return 'unknown';
      return now < expiresAt ? 'valid' : 'expired';
    },
    revokeAll: () => expiries.clear(),
    setLife(next) {
      lifeMs = next;
    },
  };
}

function randomToken(): string {
  return randomBytes(32).toString('base64url');
}
