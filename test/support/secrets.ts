import { subscribe } from 'node:diagnostics_channel';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { tryOrUndefined } from '../../src/try-or-undefined.ts';
import { encodedSpellingsOf, plainSpellingsOf } from './secret-encodings.ts';

/** The arguments and the environment with which a test starts the program. */
export type Start = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** The secrets of the current test. */
export type Secrets = ReturnType<typeof createSecrets>;

/** Shorter secrets occur in ordinary text, so a match would be meaningless. */
const SHORTEST_SECRET = 8;
const PASSWORD = 'LEAGUE_SYNC_PASSWORD';
const USERNAME = 'LEAGUE_SYNC_USERNAME';
/** Any part of an address may be what lets a sender in, if it is long enough to be searched for. */
const longPartsOf = (address: string): readonly string[] => {
  const url = URL.parse(address);
  if (url === null) return [];
  const parts = [...url.pathname.split('/'), ...url.searchParams.values(), url.username, url.password];
  return parts.map(decodeURIComponent).filter(({ length }) => length >= SHORTEST_SECRET);
};
/** The password of an address, and the pair that is sent of it. */
const credentialsOf = (address: string): readonly string[] => {
  const { username = '', password = '' } = URL.parse(address) ?? {};
  if (password === '') return [];
  const [user, secret] = [username, password].map((part) => tryOrUndefined(() => decodeURIComponent(part)) ?? part);
  return [secret ?? '', `${user}:${secret}`];
};
/** What is secret in other settings. */
const SECRET_PARTS: readonly (readonly [name: string, partsOf: (value: string) => readonly string[]])[] = [
  ['LEAGUE_SYNC_HEARTBEAT_URL', longPartsOf],
  ['LEAGUE_SYNC_WEBHOOK_URL', longPartsOf],
  ['LEAGUE_SYNC_WEBHOOK_SECRET', (value) => value.split(/\s+/).map((secret) => secret.replace(/^whsec_/, ''))],
  ['LEAGUE_SYNC_POSTGRES_URL', credentialsOf],
  ['http_proxy', credentialsOf],
  ['https_proxy', credentialsOf],
];
/** The credentials of the demo. */
const DEMO = { [USERNAME]: 'demo', [PASSWORD]: 'demo-password' };

/** Knows, besides what `collect` finds, the secrets sent to and from the HTTP servers of this process. */
export function createSecrets() {
  const names = new Map<string, string>();
  const sources = new Set<string>();
  const known = new Set<string>();
  let short: string | undefined;
  const keep: Keep = (name, secret) => {
    if (secret === '' || known.has(secret)) return;
    known.add(secret);
    if (secret.length < SHORTEST_SECRET) short = name;
    for (const spelling of plainSpellingsOf(secret)) names.set(spelling, name);
  };
  const keepCredential: Keep = (name, secret) => {
    keep(name, secret);
    if (secret !== '') for (const spelling of encodedSpellingsOf(secret)) names.set(spelling, name);
  };
  tapServers(keep, keepCredential);
  /** A setting in both of its forms. */
  const read = (name: string, settings: Readonly<Record<string, string | undefined>>, cwd: string) => {
    const path = settings[`${name}_FILE`] ?? '';
    const file = resolve(cwd, path);
    if (path !== '') sources.add(file);
    const [line = ''] = path === '' ? [] : readWhatIsThere(file).toString().split(/\r?\n/, 1);
    return [settings[name] ?? '', line].filter((value) => value !== '');
  };
  return {
    /** Adds the secrets in the environment, in `.env`, in files, and on the command line of a program. */
    collect: ({ args, cwd, env }: Start): void => {
      const dotenv = join(cwd, '.env');
      sources.add(dotenv);
      const given = { ...parseEnv(readWhatIsThere(dotenv).toString()), ...env };
      const settings = args[0] === 'demo' ? DEMO : given;
      const usernames = read(USERNAME, settings, cwd);
      for (const password of read(PASSWORD, settings, cwd)) {
        keepCredential(PASSWORD, password);
        for (const username of usernames) keepCredential('the Basic pair', `${username}:${password}`);
      }
      for (const [name, partsOf] of SECRET_PARTS)
        for (const value of read(name, given, cwd)) for (const part of partsOf(value)) keepCredential(name, part);
      const option = args.indexOf('--password');
      if (option >= 0) keepCredential('--password', args[option + 1] ?? '');
    },
    /** Whether the test itself wrote a secret into this file. */
    isSource: (file: string): boolean => sources.has(file),
    /** The name of a secret that the bytes contain, in any encoding. Throws if a secret is too short to be found. */
    findIn: (bytes: Buffer): string | undefined => {
      if (short !== undefined) throw new Error(`${short} has to be at least ${SHORTEST_SECRET} characters long here.`);
      const all = [...names.keys()];
      // One that contains another one need not be searched for as well, and databases are large.
      const shortest = all.filter((one) => !all.some((other) => other !== one && one.includes(other)));
      return names.get(shortest.find((spelling) => bytes.includes(spelling)) ?? '');
    },
    forget: (): void => {
      short = undefined;
      for (const remembered of [names, sources, known]) remembered.clear();
    },
  };
}

/** Keeps a secret that is sent or received, with what it is. */
type Keep = (name: string, secret: string) => void;

/** The maximum size of a login response. */
const LONGEST_LOGIN = 65_536;
const ISSUED = /"(access_token|refresh_token)"\s*:\s*("(?:[^"\\]|\\.)*")/g;

/**
 * Captures the secrets of all HTTP servers in this process: the `Authorization` of requests, and the tokens in login
 * responses, used or not.
 */
function tapServers(keepToken: Keep, keepCredential: Keep): void {
  subscribe('http.server.response.created', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const [scheme, sent = ''] = request.headers.authorization?.split(' ', 2) ?? [];
    if (scheme === 'Bearer') keepToken('a token that was sent', sent);
    if (scheme === 'Basic') {
      const pair = Buffer.from(sent, 'base64').toString();
      keepCredential('a Basic pair that was sent', pair);
      keepCredential('a password that was sent', pair.slice(pair.indexOf(':') + 1));
    }
    if (request.method === 'POST') tapBody(response, keepToken);
  });
}

/** Reads the body without changing the response. */
function tapBody(response: ServerResponse, keepToken: Keep): void {
  let said = '';
  for (const name of ['write', 'end'] as const) {
    const send = response[name];
    response[name] = (...args: unknown[]) => {
      if (said.length < LONGEST_LOGIN && (typeof args[0] === 'string' || args[0] instanceof Uint8Array)) {
        said += Buffer.from(args[0] as string).toString();
        for (const [, field = '', text = ''] of said.matchAll(ISSUED))
          keepToken(`an ${field}`, String(JSON.parse(text)));
      }
      return Reflect.apply(send, response, args);
    };
  }
}

/** Every regular file below the folder, except for core dumps. */
export function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) throw new Error(`${folder} was removed before it could be searched for secrets.`);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^core(\.\d+)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Empty if the file cannot be read: a disk may be gone, or the file may belong to another user. */
export function readWhatIsThere(path: string): Buffer {
  return tryOrUndefined(() => readFileSync(path)) ?? Buffer.alloc(0);
}
