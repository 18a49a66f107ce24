/** Tokens of the last four logins (two each) stay; earlier ones for `TOKEN_KEPT_MS`: a request may use them. */
const MIN_TOKENS_KEPT = 8;
const TOKEN_KEPT_MS = 600_000;
const MAX_TOKENS_KEPT = 1_000;
/** Redacting shorter secrets would garble ordinary text. */
const MIN_SECRET_LENGTH = 4;
/** Messages have these words anyway. Redacting one would tell that it is the secret, and garble the message. */
const ORDINARY =
  /^(?:access|account|admin|authentication|connection|credentials|database|failed|host|league|login|password|postgres|refused|role|secret|server|service|sync|test|token|user|username)$/i;
const MIN_TOKEN_LENGTH_IN_DATA = 8;
const REDACTED = '[secret]';

/** The secrets of this process, to be removed from text that comes from the service. */
export type Secrets = ReturnType<typeof createSecrets>;

export function createSecrets(now = (): number => performance.now()) {
  const credentials = new Set<string>();
  let pairs: readonly string[] = [];
  /** Newest first. */
  let tokens: readonly { readonly token: string; readonly at: number }[] = [];
  let inMessages: readonly string[] = [];
  let inData: readonly string[] = [];
  const update = (): void => {
    const all = tokens.map(({ token }) => token);
    inMessages = longestFirst([...credentials, ...encodings(...all)], MIN_SECRET_LENGTH);
    inData = longestFirst([...pairs, ...encodings(...all.filter(looksRandom))], MIN_TOKEN_LENGTH_IN_DATA);
  };
  return {
    addCredentials: (username: string, password: string, basicPair: string): void => {
      pairs = encodings(basicPair, basicPair.replace(/=+$/, ''), `${username}:${password}`);
      for (const secret of [...encodings(password), ...pairs]) credentials.add(secret);
      update();
    },
    addTokens: (...added: readonly string[]): void => {
      const at = now();
      const others = tokens.filter(({ token }) => !added.includes(token));
      tokens = [...added.map((token) => ({ token, at })), ...others].filter(
        (kept, index) => index < MIN_TOKENS_KEPT || (index < MAX_TOKENS_KEPT && at - kept.at < TOKEN_KEPT_MS),
      );
      update();
    },
    /** For messages of the service: redacts every secret of at least `MIN_SECRET_LENGTH` characters. */
    scrub: (text: string): string => replaceAll(text, inMessages),
    /** For stored JSON: redacts tokens and the Basic pair, not the password, which names may contain. */
    scrubTokens: (json: string): string => {
      const text = unescapeAscii(json);
      // Most bodies contain no secret. A regular expression of all secrets would take several times as long.
      return inData.some((secret) => text.includes(secret)) ? replaceAll(text, inData) : json;
    },
  };
}

/** For messages of other programs: as `scrub`, for secrets that do not change while `text` is made. */
export function redact(text: string, secrets: readonly string[]): string {
  return replaceAll(text, longestFirst(encodings(...secrets), MIN_SECRET_LENGTH));
}

/** Each secret in three forms: as it is, as in JSON, and as in JSON with escaped slashes (which PHP writes). */
function encodings(...secrets: readonly string[]): readonly string[] {
  return secrets.flatMap((secret) => {
    const escaped = JSON.stringify(secret).slice(1, -1);
    return [secret, escaped, escaped.replaceAll('/', '\\/')];
  });
}

/** False for a word or a number: such a token is possible, but replacing it would damage data. */
export function looksRandom(token: string): boolean {
  return !/^(?:[a-z_]{1,12}|[\d.]{1,13})$/i.test(token);
}

/** Decodes ASCII characters that were escaped without need: `\u0041` becomes `A`. */
function unescapeAscii(json: string): string {
  if (!json.includes('\\') || !/\\(?:u00[2-7]|\/)/.test(json)) return json;
  // A fast path: most bodies escape nothing but slashes.
  if (!/\\(?:u00[2-7]|\\)/.test(json)) return json.replaceAll('\\/', '/');
  return json.replace(/\\(?:u(00[2-7][0-9a-fA-F])|.)/gs, (sequence, code: string | undefined) => {
    if (code === undefined) return sequence === '\\/' ? '/' : sequence;
    return JSON.stringify(String.fromCharCode(Number.parseInt(code, 16))).slice(1, -1);
  });
}

/** Longest first, since `username:password` must be replaced before the password inside it. */
function longestFirst(secrets: readonly string[], minLength: number): readonly string[] {
  const long = [...new Set(secrets)].filter((secret) => secret.length >= minLength && !ORDINARY.test(secret));
  return long.sort((a, b) => b.length - a.length);
}

function replaceAll(text: string, secrets: readonly string[]): string {
  return secrets.reduce((redacted, secret) => redacted.replaceAll(secret, REDACTED), text);
}
