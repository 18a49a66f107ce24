import { type Clock, formatInstant } from '../clock.ts';
import type { CredentialPair } from '../config/credentials.ts';
import { CredentialsError } from '../errors.ts';

/** Waits after failures in a row, each twice as long as the one before. */
export type Backoff = {
  /** Begins the next wait; it is at least `leastMs` long. */
  readonly fail: (leastMs?: number) => void;
  /** Time until the wait is over; 0 if there is none. */
  readonly leftMs: () => number;
  /** When (ms, wall clock) the wait is over: the same each time, unless the clock was set meanwhile. */
  readonly until: () => number;
  /** Ends the wait; the next one is as long as it would have been. */
  readonly skip: () => void;
  /** Ends the wait; the next one is a first one. */
  readonly reset: () => void;
};

export type BackoffOptions = {
  readonly clock: Clock;
  readonly firstMs: number;
  readonly longestMs: number;
  /** Chance, 0 to 1, takes up to half of each wait, so that clients that failed together do not come back together. */
  readonly random?: () => number;
};

/** Less is the rounding of two clocks. */
const CLOCK_STEP_MS = 1_000;

export function createBackoff({ clock, firstMs, longestMs, random = () => 1 }: BackoffOptions): Backoff {
  let failures = 0;
  /** On the monotonic clock, in ms. */
  let endsAt = Number.NEGATIVE_INFINITY;
  /** On the wall clock as it was when the wait began. */
  let until = Number.NEGATIVE_INFINITY;
  const leftMs = (): number => Math.max(0, endsAt - clock.monotonic());
  const skip = (): void => {
    endsAt = Number.NEGATIVE_INFINITY;
  };
  return {
    fail: (leastMs = 0) => {
      failures += 1;
      const waitMs = Math.max((0.5 + random() / 2) * doubledMs(failures, firstMs, longestMs), leastMs);
      endsAt = clock.monotonic() + waitMs;
      until = clock.now() + waitMs;
    },
    leftMs,
    until: () => {
      const now = clock.now() + leftMs();
      return Math.abs(now - until) < CLOCK_STEP_MS ? until : now;
    },
    skip,
    reset: () => {
      failures = 0;
      skip();
    },
  };
}

/** The wait after so many failures: `firstMs`, doubling up to `longestMs`. */
export function doubledMs(failures: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
}

/** What a token is sent for. One may be forbidden to an account whose token is good for the other. */
export type Resource = 'leagues' | 'profile';

/** What the service can refuse: the credentials at a login, or a fresh token for a resource. */
type Subject = 'login' | Resource;

/** What the service refuses, and when (ms, wall clock) it will be tried again. */
export type Refusal = {
  readonly error: CredentialsError;
  readonly until: number;
  /** Undefined if it is the login. */
  readonly resource: Resource | undefined;
};

/** What the service refuses at present. Each subject waits by itself, so that none is the worse for another. */
export type Refusals = {
  /** Begins the next wait of the subject; `pair` is what it was refused for, if that could be read. */
  readonly add: (subject: Subject, error: CredentialsError, pair: CredentialPair | undefined) => void;
  /** The service accepted the subject: waits begin small again. */
  readonly end: (subject: Subject) => void;
  /** The error that keeps the subject from being tried now; undefined if it may be. */
  readonly blockedBy: (subject: Subject) => CredentialsError | undefined;
  /** Time until the subject may be tried; 0 if it may be now. */
  readonly leftMs: (subject: Subject) => number;
  /** The refusal in force: that of the login, or the one that ends first. */
  readonly current: () => Refusal | undefined;
  /** Ends the waits, all or those that are not for this pair; the next ones are as long as they would have been. */
  readonly skipWaits: (unlessFor?: CredentialPair) => void;
};

/** After refused credentials: a minute, doubling to an hour (contract, 4). */
const REFUSAL_WAITS = { firstMs: 60_000, longestMs: 3_600_000 } as const;

/** `refused` is undefined if its wait was skipped. */
type Entry = {
  readonly backoff: Backoff;
  readonly refused?: { readonly error: CredentialsError; readonly pair: CredentialPair | undefined };
};

export function createRefusals(clock: Clock): Refusals {
  const entries = new Map<Subject, Entry>();
  const leftMs = (subject: Subject): number => entries.get(subject)?.backoff.leftMs() ?? 0;
  return {
    add: (subject, error, pair) => {
      const backoff = entries.get(subject)?.backoff ?? createBackoff({ clock, ...REFUSAL_WAITS });
      backoff.fail();
      entries.set(subject, { backoff, refused: { error, pair } });
    },
    end: (subject) => {
      entries.delete(subject);
    },
    blockedBy: (subject) => {
      const { backoff, refused } = entries.get(subject) ?? {};
      if (refused === undefined || backoff === undefined || backoff.leftMs() === 0) return undefined;
      return withNextTry(refused.error, backoff.until());
    },
    leftMs,
    current: () => {
      const found = [...entries].flatMap(([subject, { backoff, refused }]) => {
        const resource = subject === 'login' ? undefined : subject;
        return refused === undefined ? [] : [{ error: refused.error, until: backoff.until(), resource }];
      });
      return found.find(({ resource }) => resource === undefined) ?? found.sort((a, b) => a.until - b.until)[0];
    },
    skipWaits: (unlessFor) => {
      for (const [subject, { backoff, refused }] of entries) {
        if (unlessFor !== undefined && isSame(unlessFor, refused?.pair)) continue;
        backoff.skip();
        entries.set(subject, { backoff });
      }
    },
  };
}

function isSame(one: CredentialPair, other: CredentialPair | undefined): boolean {
  return one.username === other?.username && one.password === other.password;
}

function withNextTry(error: CredentialsError, until: number): CredentialsError {
  const message = `${error.message} The next try is at ${formatInstant(until)}; send SIGHUP or change the secret file to try now.`;
  const { httpStatus, serviceMessage } = error;
  return new CredentialsError(message, { cause: error, httpStatus, serviceMessage });
}
