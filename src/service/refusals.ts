import { type Clock, formatInstant } from '../clock.ts';
import type { CredentialPair } from '../config/credentials.ts';
import { CredentialsError } from '../errors.ts';
import { type Backoff, createBackoff } from './backoff.ts';

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
  /** Ends every wait; the next ones are as long as they would have been. */
  readonly skipWaits: () => void;
  /** The same for those that were refused for other credentials than these. */
  readonly skipWaitsUnlessFor: (pair: CredentialPair) => void;
};

/** After refused credentials: a minute, doubling to an hour (contract, 4). */
const WAITS = { firstMs: 60_000, longestMs: 3_600_000 } as const;

/** `refused` is undefined if its wait was skipped. */
type Entry = {
  readonly backoff: Backoff;
  readonly refused: { readonly error: CredentialsError; readonly pair: CredentialPair | undefined } | undefined;
};

export function createRefusals(clock: Clock): Refusals {
  const entries = new Map<Subject, Entry>();
  const skip = (subject: Subject, { backoff }: Entry): void => {
    backoff.skip();
    entries.set(subject, { backoff, refused: undefined });
  };
  const leftMs = (subject: Subject): number => entries.get(subject)?.backoff.leftMs() ?? 0;
  return {
    add: (subject, error, pair) => {
      const backoff = entries.get(subject)?.backoff ?? createBackoff({ clock, ...WAITS });
      backoff.fail();
      entries.set(subject, { backoff, refused: { error, pair } });
    },
    end: (subject) => {
      entries.delete(subject);
    },
    blockedBy: (subject) => {
      const { backoff, refused } = entries.get(subject) ?? {};
      return refused === undefined || leftMs(subject) === 0
        ? undefined
        : postpone(refused.error, backoff?.until() ?? 0);
    },
    leftMs,
    current: () => {
      const found = [...entries].flatMap(([subject, { backoff, refused }]) => {
        const resource = subject === 'login' ? undefined : subject;
        return refused === undefined ? [] : [{ error: refused.error, until: backoff.until(), resource }];
      });
      return found.find(({ resource }) => resource === undefined) ?? found.sort((a, b) => a.until - b.until)[0];
    },
    skipWaits: () => {
      for (const [subject, entry] of entries) skip(subject, entry);
    },
    skipWaitsUnlessFor: ({ username, password }) => {
      for (const [subject, entry] of entries) {
        const pair = entry.refused?.pair;
        if (pair?.username !== username || pair.password !== password) skip(subject, entry);
      }
    },
  };
}

function postpone(error: CredentialsError, until: number): CredentialsError {
  const message = `${error.message} The next try is at ${formatInstant(until)}; send SIGHUP or change the secret file to try now.`;
  return new CredentialsError(message, {
    cause: error,
    httpStatus: error.httpStatus,
    serviceMessage: error.serviceMessage,
  });
}
