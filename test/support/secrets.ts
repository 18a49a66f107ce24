import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { tapServers } from './http-capture.ts';
import { readWhatIsThere } from './leak-file.ts';
import { encodedSpellingsOf, plainSpellingsOf } from './secret-encodings.ts';

/** The arguments and the environment with which a test starts the program. */
export type Start = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** The secrets of the current test. */
export type Secrets = {
  /** Adds the secrets in the environment, in `.env`, in files, and on the command line of a program. */
  readonly collect: (start: Start) => void;
  /** Whether the test itself wrote a secret into this file. */
  readonly isSource: (file: string) => boolean;
  /**
   * The name of a secret that the bytes contain, in any encoding. Throws if a secret is too short to be searched for.
   */
  readonly findIn: (bytes: Buffer) => string | undefined;
  readonly forget: () => void;
};

/** Shorter secrets occur in ordinary text, so a match would be meaningless. */
const SHORTEST_SECRET = 8;
const PASSWORD = 'LEAGUE_SYNC_PASSWORD';
const USERNAME = 'LEAGUE_SYNC_USERNAME';
/** Its path is enough to send pings in the worker's name. */
const HEARTBEAT = 'LEAGUE_SYNC_HEARTBEAT_URL';
/** Path, query, user and password, any of which may be what lets a sender in. */
const WEBHOOK = 'LEAGUE_SYNC_WEBHOOK_URL';
const WEBHOOK_SECRET = 'LEAGUE_SYNC_WEBHOOK_SECRET';
const POSTGRES = 'LEAGUE_SYNC_POSTGRES_URL';
/** The credentials of the demo. */
const DEMO = { [USERNAME]: 'demo', [PASSWORD]: 'demo-password' };

/** Knows, besides what `collect` finds, the secrets sent to and from the HTTP servers of this process. */
export function createSecrets(): Secrets {
  const names = new Map<string, string>();
  const sources = new Set<string>();
  const known = new Set<string>();
  let short: string | undefined;
  const keep = (name: string, secret: string): void => {
    if (secret === '' || known.has(secret)) return;
    known.add(secret);
    if (secret.length < SHORTEST_SECRET) short = name;
    for (const spelling of plainSpellingsOf(secret)) names.set(spelling, name);
  };
  const keepCredential = (name: string, secret: string): void => {
    keep(name, secret);
    if (secret !== '') for (const spelling of encodedSpellingsOf(secret)) names.set(spelling, name);
  };
  tapServers({ onToken: keep, onCredential: keepCredential });
  /** A secret that contains another one need not be searched for separately, and databases are large. */
  const shortest = (): readonly (readonly [string, string])[] => {
    const all = [...names.keys()];
    return [...names].filter(([one]) => !all.some((other) => other !== one && one.includes(other)));
  };

  /** A setting in both of its forms. */
  const read = (name: string, settings: Readonly<Record<string, string | undefined>>, cwd: string) => {
    const path = settings[`${name}_FILE`] ?? '';
    const file = resolve(cwd, path);
    if (path !== '') sources.add(file);
    const [line = ''] = path === '' ? [] : readWhatIsThere(file).toString().split(/\r?\n/, 1);
    return [settings[name] ?? '', line].filter((value) => value !== '');
  };
  return {
    collect: ({ args, cwd, env }) => {
      const dotenv = join(cwd, '.env');
      sources.add(dotenv);
      const given = { ...parseEnv(readWhatIsThere(dotenv).toString()), ...env };
      const settings = args[0] === 'demo' ? DEMO : given;
      const usernames = read(USERNAME, settings, cwd);
      for (const password of read(PASSWORD, settings, cwd)) {
        keepCredential(PASSWORD, password);
        for (const username of usernames) keepCredential('the Basic pair', `${username}:${password}`);
      }
      const parts = read(HEARTBEAT, given, cwd).flatMap((address) => URL.parse(address)?.pathname.split('/') ?? []);
      for (const part of parts) if (part.length >= SHORTEST_SECRET) keepCredential(HEARTBEAT, part);
      for (const address of read(WEBHOOK, given, cwd))
        for (const part of partsOf(address)) if (part.length >= SHORTEST_SECRET) keepCredential(WEBHOOK, part);
      for (const line of read(WEBHOOK_SECRET, given, cwd))
        for (const secret of line.split(/\s+/)) keepCredential(WEBHOOK_SECRET, secret.replace(/^whsec_/, ''));
      for (const address of read(POSTGRES, given, cwd))
        keepCredential(POSTGRES, decodeURIComponent(URL.parse(address)?.password ?? ''));
      const option = args.indexOf('--password');
      if (option >= 0) keepCredential('--password', args[option + 1] ?? '');
    },
    isSource: (file) => sources.has(file),
    findIn: (bytes) => {
      if (short !== undefined) throw new Error(`${short} has to be at least ${SHORTEST_SECRET} characters long here.`);
      for (const [spelling, name] of shortest()) if (bytes.includes(spelling)) return name;
      return undefined;
    },
    forget: () => {
      short = undefined;
      for (const remembered of [names, sources, known]) remembered.clear();
    },
  };
}

/** What is secret in the URL of a webhook. */
function partsOf(address: string): readonly string[] {
  const url = URL.parse(address);
  if (url === null) return [];
  return [...url.pathname.split('/'), ...url.searchParams.values(), url.username, url.password].map(decodeURIComponent);
}
