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

/** After refused credentials: a minute, doubling to an hour (contract, 4). */
const REFUSAL_WAITS = { firstMs: 60_000, longestMs: 3_600_000 } as const;

type Entry = {
  readonly backoff: Backoff;
  /** What was refused, and for which credentials if they could be read; undefined if the wait was skipped. */
  refused?: { readonly error: CredentialsError; readonly pair: CredentialPair | undefined } | undefined;
};

/** What the service refuses at present. Each subject waits by itself, so that none is the worse for another. */
export class Refusals {
  private readonly clock: Clock;
  private readonly entries = new Map<Subject, Entry>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Begins the next wait of the subject. */
  add(subject: Subject, error: CredentialsError, pair: CredentialPair | undefined): void {
    const entry = this.entries.get(subject) ?? { backoff: createBackoff({ clock: this.clock, ...REFUSAL_WAITS }) };
    this.entries.set(subject, { ...entry, refused: { error, pair } });
    entry.backoff.fail();
  }

  /** The service accepted the subject: waits begin small again. */
  end(subject: Subject): void {
    this.entries.delete(subject);
  }

  /** Time until the subject may be tried; 0 if it may be now. */
  leftMs(subject: Subject): number {
    return this.entries.get(subject)?.backoff.leftMs() ?? 0;
  }

  /** The error that keeps the subject from being tried now; undefined if it may be. */
  blockedBy(subject: Subject): CredentialsError | undefined {
    const entry = this.entries.get(subject);
    if (entry?.refused === undefined || entry.backoff.leftMs() === 0) return undefined;
    const { message, httpStatus, serviceMessage } = entry.refused.error;
    const next = `The next try is at ${formatInstant(entry.backoff.until())}; send SIGHUP or change the secret file to try now.`;
    return new CredentialsError(`${message} ${next}`, { cause: entry.refused.error, httpStatus, serviceMessage });
  }

  /** The refusal in force: that of the login, or the one that ends first. */
  current(): Refusal | undefined {
    const found = [...this.entries].flatMap(([subject, { backoff, refused }]) => {
      const resource = subject === 'login' ? undefined : subject;
      return refused === undefined ? [] : [{ error: refused.error, until: backoff.until(), resource }];
    });
    return found.find(({ resource }) => resource === undefined) ?? found.sort((a, b) => a.until - b.until)[0];
  }

  /** Ends the waits, all or those that are not for these credentials; the next ones are as long as they would have been. */
  skipWaits(unlessFor?: CredentialPair): void {
    for (const entry of this.entries.values()) {
      const pair = entry.refused?.pair;
      if (unlessFor && pair?.username === unlessFor.username && pair.password === unlessFor.password) continue;
      entry.backoff.skip();
      entry.refused = undefined;
    }
  }
}
