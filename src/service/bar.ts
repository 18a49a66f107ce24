import type { Clock } from '../clock.ts';
import type { CredentialPair } from '../config/credentials.ts';
import type { CredentialsError } from '../errors.ts';
import { createRefusalBackoff, type Refusal, type RefusalBackoff } from './refusal.ts';
import type { Token } from './token.ts';

/** What a token is sent for. One may be forbidden to an account whose token is good for the other. */
export type Resource = 'leagues' | 'profile';

/** A token that a resource refused, though it was fresh, and the credentials that it was had for. */
export type BarredToken = {
  readonly token: Token;
  readonly error: CredentialsError;
  readonly pair: CredentialPair | undefined;
};

/** The resources that refused a fresh token. Each waits by itself, so that none is the worse for another. */
export type Bars = {
  /** The resource refused a fresh token, or its probe. Gives the error back. */
  readonly set: (resource: Resource, barred: BarredToken) => CredentialsError;
  /** The resource took a token. */
  readonly lift: (resource: Resource) => void;
  /** What to tell whoever wants a token for the resource now; undefined where nothing speaks against it. */
  readonly objection: (resource: Resource) => CredentialsError | undefined;
  /** Whether this is the token that the resource refused: the next try needs another one. */
  readonly isSpent: (resource: Resource, token: Token) => boolean;
  /** Where the resource is barred, this is the token by which it is tried again. */
  readonly probe: (resource: Resource, token: Token) => void;
  readonly isProbe: (resource: Resource, token: Token) => boolean;
  /** The refusal in force that ends first. */
  readonly current: () => (Refusal & { readonly resource: Resource }) | undefined;
  /** Ends every wait; the next ones are as long as they would have been. */
  readonly clear: () => void;
  readonly clearIfRotated: (pair: CredentialPair) => void;
};

type Bar = { readonly backoff: RefusalBackoff; readonly token: Token; readonly probe?: Token };

export function createBars(clock: Clock): Bars {
  const bars = new Map<Resource, Bar>();
  const backoffs = (): readonly RefusalBackoff[] => [...bars.values()].map(({ backoff }) => backoff);
  return {
    set: (resource, { token, error, pair }) => {
      const backoff = bars.get(resource)?.backoff ?? createRefusalBackoff(clock);
      bars.set(resource, { backoff, token });
      return backoff.refuse(error, pair);
    },
    lift: (resource) => {
      bars.delete(resource);
    },
    objection: (resource) => bars.get(resource)?.backoff.objection(),
    isSpent: (resource, token) => bars.get(resource)?.token === token,
    probe: (resource, token) => {
      const bar = bars.get(resource);
      if (bar !== undefined) bars.set(resource, { ...bar, probe: token });
    },
    isProbe: (resource, token) => bars.get(resource)?.probe === token,
    current: () =>
      [...bars]
        .flatMap(([resource, { backoff }]) => {
          const refusal = backoff.current();
          return refusal === undefined ? [] : [{ ...refusal, resource }];
        })
        .sort((a, b) => a.until - b.until)[0],
    clear: () => {
      for (const backoff of backoffs()) backoff.clear();
    },
    clearIfRotated: (pair) => {
      for (const backoff of backoffs()) backoff.clearIfRotated(pair);
    },
  };
}
