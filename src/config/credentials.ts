import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { CredentialsError, type Problem, SettingsError } from '../errors.ts';
import { chooseProxy } from './proxy.ts';
import type { Environment, Settings } from './read-environment.ts';
import { notSet, readAll, readHeartbeatUrl, settingsError, type Values } from './setting-definitions.ts';
import { readTextFile } from './text-file.ts';

/** Kept in memory only. */
export type CredentialPair = { readonly username: string; readonly password: string };

/** `read` reads secret files again, since they may have changed. Its CredentialsError contains no secrets. */
export type Credentials = { readonly read: () => CredentialPair };

/** A secret that was set as `NAME` or `NAME_FILE`. `read` throws a SettingsError if the file cannot be used. */
type Secret = { readonly name: string; readonly read: () => string };

/** The URL (read again if it is in a file) and its proxy. Throws a SettingsError. Log only the URL's host. */
export type HeartbeatSource = NonNullable<ReturnType<typeof findHeartbeat>>;

/** Throws a SettingsError. `username` stays as it was at this call; `read` reads the current credentials. */
export function findCredentials(values: Values): Credentials & Pick<CredentialPair, 'username'> {
  const read = () =>
    readAll({
      username: () => {
        const { name, read } = requireSecret(values, 'LEAGUE_SYNC_USERNAME', "the player's username");
        const username = read();
        if (!username.includes(':')) return username;
        // Basic authentication ends the username at the first colon, so the service would read a different username.
        const fix = 'ask the operator of the service for a username without a colon';
        throw settingsError(`${name}: a username with a colon cannot be sent`, fix);
      },
      password: () => requireSecret(values, 'LEAGUE_SYNC_PASSWORD', "the player's password").read(),
    });
  const { username } = read();
  return {
    username,
    read: () => {
      try {
        return read();
      } catch (error) {
        const [problem] = error instanceof SettingsError ? error.problems : [];
        if (problem === undefined) throw error;
        throw new CredentialsError(`${problem.message}.`, { fix: problem.fix });
      }
    },
  };
}

export function findHeartbeat(values: Values, environment: Environment) {
  return findSource(values, ['LEAGUE_SYNC_HEARTBEAT_URL'], (secret) => {
    const url = readHeartbeatUrl(secret.read(), secret.name);
    return { url, proxy: chooseProxy(url, environment) };
  });
}

/**
 * Reads the first of the settings. If one of them is in a file, reads again at each call, since the file may have
 * changed. Undefined if unset. Throws a SettingsError.
 */
export function findSource<T>(
  values: Values,
  names: readonly [string, ...string[]],
  read: (secret: Secret) => T,
): (() => T) | undefined {
  const secret = findSecret(values, names[0]);
  if (secret === undefined) return undefined;
  const first = read(secret);
  const isConstant = names.every((name) => values[`${name}_FILE`] === undefined);
  return () => (isConstant ? first : read(secret));
}

type ServiceAccount = { readonly baseUrl: string; readonly credentials: Pick<CredentialPair, 'username'> };

/** Stored in the database to identify the service and the account without naming them. */
export function fingerprintOf({ baseUrl, credentials }: ServiceAccount): string {
  return hash('sha256', `${baseUrl}\n${credentials.username}`, 'base64url');
}

/** When `.env` or a file of the credentials was last changed (ms); 0 if there is none. */
export function credentialsChangedAt({ values, hasDotenv }: Settings): number {
  const files = [values.LEAGUE_SYNC_USERNAME_FILE, values.LEAGUE_SYNC_PASSWORD_FILE, hasDotenv ? '.env' : undefined];
  const changes = files.map((file) => file && statSync(file, { throwIfNoEntry: false })?.ctimeMs);
  return Math.max(...changes.map((at) => Number(at ?? 0)));
}

function requireSecret(values: Values, name: string, what: string): Secret {
  return requireSource(findSecret(values, name), name, `${what}, or ${name}_FILE to a file that holds it`);
}

/** For a setting that is required; `what`: what to set it to. Throws a SettingsError if there is no `source`. */
export function requireSource<T>(source: T | undefined, name: string, what: string): T {
  if (source === undefined) throw notSet(name, what);
  return source;
}

/** Throws a SettingsError if both `NAME` and `NAME_FILE` are set. */
export function findSecret(values: Values, name: string): Secret | undefined {
  const fileName = `${name}_FILE`;
  const { [name]: value, [fileName]: file } = values;
  if (value !== undefined && file !== undefined)
    throw settingsError(`both ${name} and ${fileName} are set`, 'keep one of them');
  if (file !== undefined) return { name: fileName, read: () => readFirstLine(file, fileName) };
  return value === undefined ? undefined : { name, read: () => value };
}

const ODD_SECRETS = [
  [/^\s|\s$/, 'begins or ends with a space'],
  [/^(["'`]).*\1$|^\p{Pi}.*\p{Pf}$/u, 'is in quotes, which count as part of it'],
  [/\p{C}|\uFFFD/u, 'has a character that is invisible or not in UTF-8'],
] as const;

/** Warnings about a username or a password that is probably not what was meant. They do not show it. */
export function findOddSecrets(values: Values): readonly Problem[] {
  return ['LEAGUE_SYNC_USERNAME', 'LEAGUE_SYNC_PASSWORD'].flatMap((setting) => {
    const secret = findSecret(values, setting);
    const odd = ODD_SECRETS.find(([form]) => form.test(secret?.read() ?? ''));
    if (secret === undefined || odd === undefined) return [];
    return [{ message: `${secret.name}: the value ${odd[1]}`, fix: 'correct it, unless that is meant' }];
  });
}

function readFirstLine(file: string, name: string): string {
  const [secret = ''] = readTextFile(file, `${name}: `).split(/\r?\n/, 1);
  if (secret !== '') return secret;
  throw settingsError(`${name}: the first line of ${file} is empty`, 'write the secret there');
}
