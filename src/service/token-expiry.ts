import { type Clock, exponentialDelayMs } from '../time/clock.ts';

/** Kept in memory only. */
export type Token = {
  readonly accessToken: string;
  /** The time (ms) on both clocks when the login was sent; the token was issued later. */
  readonly sentAt: { readonly wall: number; readonly monotonic: number };
  readonly loginDurationMs: number;
  /** Measured by the service's clock if its time is known, otherwise by ours; undefined if the expiry is unknown. */
  readonly lifetimeMs: number | undefined;
  /** `expire_datetime`, in ms by the service's clock. */
  readonly expiresAt: number | undefined;
  readonly clockSkewMs: number | undefined;
};

const UNKNOWN_EXPIRY_RENEWAL_MS = 30 * 60_000;
/** Tokens with less time left on arrival are renewed with backoff: prompt renewal of each would flood the service. */
const MIN_LIFETIME_MS = 1_000;
/** No token is used this long before its expiry: requests take time, and the `Date` header is exact to a second. */
const LAST_USE_MARGIN_MS = 1_000;

/** The age by the clock that shows more: the wall clock may step back, and the other one may miss a suspension. */
export function ageMs(token: Token, clock: Clock): number {
  return Math.max(clock.now() - token.sentAt.wall, clock.monotonic() - token.sentAt.monotonic);
}

/** Time (ms) until the token expires, negative afterwards; undefined if the expiry is unknown. */
export function msUntilExpiry(token: Token, clock: Clock): number | undefined {
  return token.lifetimeMs === undefined ? undefined : token.lifetimeMs - ageMs(token, clock);
}

/** Whether the token had expired, or had less than a second left, when it arrived. */
export function hasExpiredOnArrival(token: Token): boolean {
  return token.lifetimeMs !== undefined && token.lifetimeMs - token.loginDurationMs < MIN_LIFETIME_MS;
}

/** Time (ms) until renewal: min(leeway, lifetime / 3) before expiry, else 30 min; backoff if expired on arrival. */
export function msUntilDue(token: Token, clock: Clock, leewayMs: number, expiredOnArrival: number): number {
  const { lifetimeMs } = token;
  const age = ageMs(token, clock);
  if (lifetimeMs === undefined) return UNKNOWN_EXPIRY_RENEWAL_MS - age;
  if (hasExpiredOnArrival(token)) return exponentialDelayMs(expiredOnArrival, 10_000, 300_000) - age;
  return lifetimeMs - Math.min(leewayMs, lifetimeMs / 3) - age;
}

/** Whether the token is too old to use. A lifetime below a second is ignored, since `expire_datetime` may be wrong. */
export function hasExpired(token: Token, clock: Clock): boolean {
  if (token.lifetimeMs === undefined || token.lifetimeMs < MIN_LIFETIME_MS) return false;
  // If a slow login used up the lifetime, the age counts from the end of the login, so that the token is tried.
  const age = ageMs(token, clock) - (hasExpiredOnArrival(token) ? token.loginDurationMs : 0);
  return age >= token.lifetimeMs - Math.min(LAST_USE_MARGIN_MS, token.lifetimeMs / 3);
}
