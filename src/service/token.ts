import type { Clock } from '../time/clock.ts';
import { exponentialDelayMs } from './backoff.ts';

/** An access token. Kept in memory only. */
export type Token = {
  readonly accessToken: string;
  /** Both clocks when the login was sent; the token was issued after that. */
  readonly sentAt: { readonly wall: number; readonly monotonic: number };
  readonly loginDurationMs: number;
  /** By the service's clock; undefined if `expire_datetime` is unreadable. */
  readonly lifetimeMs: number | undefined;
  /** `expire_datetime`, in ms by the service's clock. */
  readonly expiresAt: number | undefined;
  readonly clockSkewMs: number | undefined;
};

/** How often a token without a readable expiry is renewed. */
const UNKNOWN_EXPIRY_RENEWAL_MS = 30 * 60_000;
/** Renewing tokens with a shorter lifetime on time would hammer the service. */
const MIN_LIFETIME_MS = 1_000;
/** The last use must be this long before the expiry: requests take time, and the service's clock has whole seconds. */
const LAST_USE_MARGIN_MS = 1_000;

/** The larger age of the two clocks: the wall clock may step back, and the monotonic clock may miss a suspend. */
function ageMs(token: Token, clock: Clock): number {
  return Math.max(clock.now() - token.sentAt.wall, clock.monotonic() - token.sentAt.monotonic);
}

/** Time until the token expires, negative afterwards; undefined if the expiry is unknown. */
export function msUntilExpiry(token: Token, clock: Clock): number | undefined {
  return token.lifetimeMs === undefined ? undefined : token.lifetimeMs - ageMs(token, clock);
}

/** Whether the token was expired, or less than a second from it, when it arrived. */
export function hasExpiredOnArrival(token: Token): boolean {
  return token.lifetimeMs !== undefined && token.lifetimeMs - token.loginDurationMs < MIN_LIFETIME_MS;
}

/**
 * Time until the token is due: at expiry − min(leeway, lifetime / 3). `expiredOnArrival` counts the logins in a row that
 * returned an expired token, for the backoff.
 */
export function msUntilDue(token: Token, clock: Clock, leewayMs: number, expiredOnArrival: number): number {
  const { lifetimeMs } = token;
  const age = ageMs(token, clock);
  if (lifetimeMs === undefined) return UNKNOWN_EXPIRY_RENEWAL_MS - age;
  if (hasExpiredOnArrival(token)) return exponentialDelayMs(expiredOnArrival, 10_000, 300_000) - age;
  return lifetimeMs - Math.min(leewayMs, lifetimeMs / 3) - age;
}

/** A token that expired on arrival is still used: there is no better one, and `expire_datetime` may be wrong. */
export function hasExpired(token: Token, clock: Clock): boolean {
  if (token.lifetimeMs === undefined || token.lifetimeMs < MIN_LIFETIME_MS) return false;
  // If only the slow login makes the token look expired, count its age from the end of the login.
  const age = ageMs(token, clock) - (hasExpiredOnArrival(token) ? token.loginDurationMs : 0);
  return age >= token.lifetimeMs - Math.min(LAST_USE_MARGIN_MS, token.lifetimeMs / 3);
}
