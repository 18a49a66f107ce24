/** The secrets that the process holds at present, so that text from outside can be cleared of them. */
export type Secrets = {
  /** Remembers a secret; the oldest tokens are forgotten when there are many. */
  readonly add: (...secrets: readonly string[]) => void;
  /** The text with every remembered secret replaced. */
  readonly scrub: (text: string) => string;
};

/** Two tokens a login, and the last logins are the ones that a service can still echo. */
const REMEMBERED = 64;
/** Anything shorter would turn ordinary words into gaps, and is no secret. */
const SHORTEST = 4;
const GAP = '[secret]';

export function createSecrets(): Secrets {
  const remembered = new Set<string>();
  return {
    add: (...secrets) => {
      for (const secret of secrets) {
        if (secret.length < SHORTEST) continue;
        remembered.delete(secret);
        remembered.add(secret);
      }
      for (const oldest of remembered) {
        if (remembered.size <= REMEMBERED) break;
        remembered.delete(oldest);
      }
    },
    scrub: (text) => {
      let clean = text;
      // Longest first: a password inside a Basic pair must not leave the rest of the pair behind.
      for (const secret of [...remembered].sort((a, b) => b.length - a.length)) clean = clean.replaceAll(secret, GAP);
      return clean;
    },
  };
}
