import type { Clock } from '../clock.ts';
import { doubledMs } from './backoff.ts';

/** An access token and when it was asked for. Lives in memory only. */
export type Token = {
  readonly accessToken: string;
  /** Both clocks at the moment the login was sent: the token's life began after it. */
  readonly sentAt: { readonly wall: number; readonly monotonic: number };
  /** How long the login took, in ms. */
  readonly tookMs: number;
  /** By the service's clock, in ms; undefined if the service's word on it cannot be read. */
  readonly lifetimeMs: number | undefined;
  /** `expire_datetime`, in ms by the service's clock. */
  readonly expiresAt: number | undefined;
  readonly clockSkewMs: number | undefined;
};

/** A token whose expiry cannot be read is renewed this often, and used until the service rejects it. */
const UNKNOWN_LIFE_RENEWAL_MS = 30 * 60_000;
/** A life shorter than this is no life: renewing it on time would hammer the service. */
const SHORTEST_LIFE_MS = 1_000;
const FIRST_EXPIRED_RENEWAL_MS = 10_000;
const LONGEST_EXPIRED_RENEWAL_MS = 300_000;
/** Kept between the last use and the expiry, for the request's way and the whole seconds of the service's clock. */
const LAST_USE_MARGIN_MS = 1_000;

/**
 * How old a token is by either clock, whichever says more: the wall clock alone fails when it steps back, the monotonic
 * one alone when the machine was suspended and its uptime cannot be read.
 */
function ageMs(token: Token, clock: Clock): number {
  return Math.max(clock.now() - token.sentAt.wall, clock.monotonic() - token.sentAt.monotonic);
}

/** Time until the token expires, negative once it has; undefined if the service does not say when. */
export function msUntilExpiry(token: Token, clock: Clock): number | undefined {
  return token.lifetimeMs === undefined ? undefined : token.lifetimeMs - ageMs(token, clock);
}

/** Whether a token had expired, or all but, when it arrived. */
export function hasExpiredOnArrival(token: Token): boolean {
  return token.lifetimeMs !== undefined && token.lifetimeMs - token.tookMs < SHORTEST_LIFE_MS;
}

/** How long after its login a token falls due: at expiry − min(leeway, a third of the lifetime). */
function dueAfterMs(token: Token, leewayMs: number, expiredOnArrival: number): number {
  const life = token.lifetimeMs;
  if (life === undefined) return UNKNOWN_LIFE_RENEWAL_MS;
  if (hasExpiredOnArrival(token)) {
    return doubledMs(expiredOnArrival, FIRST_EXPIRED_RENEWAL_MS, LONGEST_EXPIRED_RENEWAL_MS);
  }
  return life - Math.min(leewayMs, life / 3);
}

/** Time until the token falls due; `expiredOnArrival` counts the logins in a row that gave an expired token. */
export function msUntilDue(token: Token, clock: Clock, leewayMs: number, expiredOnArrival: number): number {
  return dueAfterMs(token, leewayMs, expiredOnArrival) - ageMs(token, clock);
}

/**
 * Whether the token must not be used any more. One that had expired on arrival is used all the same: the service gives no
 * better one, and its word on the expiry may be the part that is wrong.
 */
export function hasExpired(token: Token, clock: Clock): boolean {
  if (token.lifetimeMs === undefined || token.lifetimeMs < SHORTEST_LIFE_MS) return false;
  // One that is only dead because its login took so long may as well have been made at the end of it.
  const age = ageMs(token, clock) - (hasExpiredOnArrival(token) ? token.tookMs : 0);
  return age >= token.lifetimeMs - Math.min(LAST_USE_MARGIN_MS, token.lifetimeMs / 3);
}
