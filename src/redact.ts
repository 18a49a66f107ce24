/** The secrets that the process holds at present, so that text from outside can be cleared of them. */
export type Secrets = {
  readonly addCredentials: (username: string, password: string, basicPair: string) => void;
  /** Remembers the tokens of a login; those of logins long past are forgotten. */
  readonly addTokens: (...tokens: readonly string[]) => void;
  /** For words that are shown or recorded as the service's own: every secret is replaced. */
  readonly scrub: (text: string) => string;
  /**
   * For data that is stored, as JSON text: tokens and the Basic pair are replaced, which are random and long. The
   * password is not: it may be an ordinary word, and leagues are named in ordinary words.
   */
  readonly scrubTokens: (json: string) => string;
};

/** Two tokens a login, and the last logins are the ones that a service can still echo. */
const REMEMBERED_TOKENS = 8;
/** Nor is one forgotten that a request may still be under way with; few runs have more time. */
const REMEMBERED_MS = 600_000;
const MOST_TOKENS = 1_000;
/** Anything shorter would turn ordinary words into gaps. */
const SHORTEST_SECRET = 4;
const SHORTEST_TOKEN_IN_DATA = 8;
const GAP = '[secret]';

type Sought = { readonly inWords: readonly string[]; readonly inData: readonly string[] };

export function createSecrets(now = (): number => performance.now()): Secrets {
  const credentials = new Set<string>();
  /** When each was added, oldest first. */
  const added = new Map<string, number>();
  let pairs: readonly string[] = [];
  /** What to look for, made when it is next looked for; a poll looks through each of its leagues. */
  let sought: Sought | undefined;
  const seek = (): Sought => {
    if (sought !== undefined) return sought;
    const tokens = [...added.keys()];
    sought = {
      inWords: inOrder([...credentials, ...spellings(...tokens)], SHORTEST_SECRET),
      inData: inOrder([...pairs, ...spellings(...tokens.filter(isRandom))], SHORTEST_TOKEN_IN_DATA),
    };
    return sought;
  };
  return {
    addCredentials: (username, password, basicPair) => {
      pairs = spellings(basicPair, basicPair.replace(/=+$/, ''), `${username}:${password}`);
      for (const secret of [...spellings(password), ...pairs]) credentials.add(secret);
      sought = undefined;
    },
    addTokens: (...tokens) => {
      for (const token of tokens) {
        added.delete(token);
        added.set(token, now());
      }
      for (const [oldest, at] of added) {
        if (added.size <= REMEMBERED_TOKENS || (added.size <= MOST_TOKENS && now() - at < REMEMBERED_MS)) break;
        added.delete(oldest);
      }
      sought = undefined;
    },
    scrub: (text) => replaceAll(text, seek().inWords),
    scrubTokens: (json) => replaceAll(unescapeAscii(json), seek().inData),
  };
}

/** Each secret as it is, as JSON writes it, and as writers of JSON do that escape slashes too. */
function spellings(...secrets: readonly string[]): readonly string[] {
  return secrets.flatMap((secret) => {
    const escaped = JSON.stringify(secret).slice(1, -1);
    return [...new Set([secret, escaped, escaped.replaceAll('/', '\\/')])];
  });
}

/** Whether replacing it in data destroys nothing else: a service may hand out a word, or a number, for a token. */
function isRandom(token: string): boolean {
  return !/^(?:[a-z_]{1,12}|[\d.]{1,13})$/i.test(token);
}

/** The same JSON with no escape in it for a character that needs none: `\u0041` is `A`. */
function unescapeAscii(json: string): string {
  if (!json.includes('\\') || !/\\(?:u00[2-7]|\/)/.test(json)) return json;
  // Most escapes are those of slashes, and this is much the fastest where no other backslash stands before one.
  if (!/\\(?:u00[2-7]|\\)/.test(json)) return json.replaceAll('\\/', '/');
  return json.replace(/\\(?:u(00[2-7][0-9a-fA-F])|.)/gs, (whole, code: string | undefined) =>
    code === undefined
      ? whole === '\\/'
        ? '/'
        : whole
      : JSON.stringify(String.fromCharCode(Number.parseInt(code, 16))).slice(1, -1),
  );
}

/** Longest first: a password inside a Basic pair must not leave the rest of the pair behind. */
function inOrder(secrets: readonly string[], shortest: number): readonly string[] {
  return [...new Set(secrets)].filter((one) => one.length >= shortest).sort((a, b) => b.length - a.length);
}

function replaceAll(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) {
    if (clean.includes(secret)) clean = clean.replaceAll(secret, GAP);
  }
  return clean;
}
