import type { CredentialPair, Credentials } from '../config/credentials.ts';
import { RunError } from '../errors.ts';

/** Credentials that tell what was read of them last: what a refusal is about. */
export type RememberedCredentials = Credentials & {
  /** Undefined where they could not be read. */
  readonly last: () => CredentialPair | undefined;
  /** What they are now, unless they cannot be read at present; `last` stays as it is. */
  readonly peek: () => CredentialPair | undefined;
};

export function rememberLast({ read }: Credentials): RememberedCredentials {
  let last: CredentialPair | undefined;
  return {
    read: () => {
      last = undefined;
      last = read();
      return last;
    },
    last: () => last,
    peek: () => {
      try {
        return read();
      } catch (error) {
        if (error instanceof RunError) return undefined;
        throw error;
      }
    },
  };
}
