import type { Clock } from '../clock.ts';
import type { CredentialPair } from '../config/credentials.ts';
import type { CredentialsError } from '../errors.ts';
import { createRefusalBackoff, type Refusal, type RefusalBackoff } from './refusal.ts';
import type { Token } from './token.ts';

/** What a token is sent for. One may be forbidden to an account whose token is good for the other. */
export type Resource = 'leagues' | 'profile';

/** The resources that rejected a fresh token. Each waits by itself, so that none is the worse for another. */
export type Rejections = {
  /** The resource rejected a token that was made because it had rejected one. Gives the error back. */
  readonly bar: (
    resource: Resource,
    token: Token,
    error: CredentialsError,
    pair: CredentialPair | undefined,
  ) => CredentialsError;
  /** This token was made to try the resource again. */
  readonly probe: (resource: Resource, token: Token) => void;
  readonly isProbe: (resource: Resource, token: Token) => boolean;
  /** The resource took a token. */
  readonly lift: (resource: Resource) => void;
  /** What to tell whoever wants a token for the resource now; undefined where nothing speaks against it. */
  readonly objection: (resource: Resource) => CredentialsError | undefined;
  /** Whether this is the token that the resource rejected: the next try needs another one. */
  readonly isSpent: (resource: Resource, token: Token) => boolean;
  /** The refusal in force that ends first. */
  readonly current: () => Refusal | undefined;
  /** Ends every wait; the next ones are as long as they would have been. */
  readonly clear: () => void;
  readonly clearIfRotated: (pair: CredentialPair) => void;
};

type Bar = { readonly backoff: RefusalBackoff; readonly token: Token; readonly probe?: Token };

export function createRejections(clock: Clock): Rejections {
  const barred = new Map<Resource, Bar>();
  const backoffs = (): readonly RefusalBackoff[] => [...barred.values()].map(({ backoff }) => backoff);
  return {
    bar: (resource, token, error, pair) => {
      const backoff = barred.get(resource)?.backoff ?? createRefusalBackoff(clock);
      barred.set(resource, { backoff, token });
      return backoff.refuse(error, pair);
    },
    probe: (resource, token) => {
      const bar = barred.get(resource);
      if (bar !== undefined) barred.set(resource, { ...bar, probe: token });
    },
    isProbe: (resource, token) => barred.get(resource)?.probe === token,
    lift: (resource) => {
      barred.delete(resource);
    },
    objection: (resource) => barred.get(resource)?.backoff.objection(),
    isSpent: (resource, token) => barred.get(resource)?.token === token,
    current: () =>
      backoffs()
        .flatMap((backoff) => backoff.current() ?? [])
        .sort((a, b) => a.until - b.until)[0],
    clear: () => {
      for (const backoff of backoffs()) backoff.clear();
    },
    clearIfRotated: (pair) => {
      for (const backoff of backoffs()) backoff.clearIfRotated(pair);
    },
  };
}
