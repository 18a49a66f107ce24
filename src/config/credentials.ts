import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { CredentialsError, codeOf, type Fault, SettingsError } from '../errors.ts';
import type { Environment } from './environment.ts';
import { chooseProxy, type ProxyServer } from './proxy.ts';
import { collect, SETTINGS, unusable, type Values } from './settings.ts';

/** What the player logs in with. Lives in memory only. */
export type CredentialPair = { readonly username: string; readonly password: string };

/**
 * Where the pair comes from. `read` reads files anew, so that a rotated secret is picked up; it throws a
 * CredentialsError that names the file and never its content.
 */
export type Credentials = { readonly read: () => CredentialPair };

/** A secret given directly, or the path of the file whose first line is it. */
export type SecretSource = { readonly value: string } | { readonly file: string };

/** What a source holds, or what is wrong with it. */
type Secret = { readonly secret: string } | { readonly fault: Fault; readonly cause?: unknown };

/** Where the heartbeat goes, and through what. The path of the address is a secret: never to be shown. */
export type HeartbeatTarget = { readonly url: URL; readonly proxy: ProxyServer | undefined };

/** Gives the target as it is now: a file that holds the address is read anew. Throws a SettingsError. */
export type HeartbeatSource = () => HeartbeatTarget;

/** A secret is a line; a file larger than this is the wrong file. */
const LARGEST_SECRET_FILE = 65_536;

export function createCredentials(username: SecretSource, password: SecretSource): Credentials {
  return { read: () => ({ username: orThrow(readUsername(username)), password: orThrow(readSecret(password)) }) };
}

function orThrow(read: Secret): string {
  if ('secret' in read) return read.secret;
  const { fault, cause } = read;
  throw new CredentialsError(`${fault.message.charAt(0).toUpperCase()}${fault.message.slice(1)}.`, {
    cause,
    fix: fault.fix,
  });
}

/** The credentials that the settings name. What is wrong with them is added to the faults. */
export function findCredentials(values: Values, faults: Fault[]): Credentials | undefined {
  const find = (name: string, what: string, read: typeof readSecret): SecretSource | undefined =>
    collect(() => {
      const source = findSource(values, name);
      if (source === undefined)
        throw unusable(`${name}: is not set`, `set it to ${what}, or ${name}_FILE to a file that holds it`);
      secretOf(name, source, read);
      return source;
    }, faults);
  const username = find('LEAGUE_SYNC_USERNAME', "the player's username", readUsername);
  const password = find('LEAGUE_SYNC_PASSWORD', "the player's password", readSecret);
  return username && password && createCredentials(username, password);
}

/** Where the heartbeat goes, if anywhere. What is wrong with that is added to the faults. */
export function findHeartbeat(values: Values, environment: Environment, faults: Fault[]): HeartbeatSource | undefined {
  const name = 'LEAGUE_SYNC_HEARTBEAT_URL';
  const source = collect(() => findSource(values, name), faults);
  if (source === undefined) return undefined;
  const read = (): HeartbeatTarget => {
    const url = SETTINGS[name].read(secretOf(name, source, readSecret), nameOf(name, source));
    const found: Fault[] = [];
    const proxy = url && chooseProxy(url, environment, found);
    if (url === undefined || found.length > 0) throw new SettingsError(found);
    return { url, proxy };
  };
  return collect(read, faults) && read;
}

/** Tells services and accounts apart in the database, without naming either. */
export function fingerprintOf(config: { readonly baseUrl: string; readonly credentials: Credentials }): string {
  return hash('sha256', `${config.baseUrl}\n${usernameOf(config.credentials)}`, 'base64url');
}

/** Until the first login says what is wrong with the file, the account has no name. */
function usernameOf(credentials: Credentials): string {
  try {
    return credentials.read().username;
  } catch (error) {
    if (error instanceof CredentialsError) return '';
    throw error;
  }
}

/** Where a setting stands that may be given as `…_FILE` instead. Throws a SettingsError if both forms are set. */
function findSource(values: Values, name: string): SecretSource | undefined {
  const { [name]: value, [`${name}_FILE`]: file } = values;
  if (value !== undefined && file !== undefined)
    throw unusable(`${name}: both it and ${name}_FILE are set`, 'keep one of them');
  if (file !== undefined) return { file };
  return value === undefined ? undefined : { value };
}

/** What a setting holds now. Throws a SettingsError that names the setting if its file cannot be used. */
function secretOf(name: string, source: SecretSource, read: typeof readSecret): string {
  const found = read(source);
  if ('secret' in found) return found.secret;
  throw unusable(`${nameOf(name, source)}: ${found.fault.message}`, found.fault.fix);
}

function nameOf(name: string, source: SecretSource): string {
  return 'file' in source ? `${name}_FILE` : name;
}

/** The Basic scheme ends the username at the first colon, so a colon would log in as somebody else. */
function readUsername(source: SecretSource): Secret {
  const read = readSecret(source);
  if ('fault' in read || !read.secret.includes(':')) return read;
  return faulty('a username with a colon cannot be sent', 'ask the operator of the service for one without');
}

/** The secret that a source holds now, or what is wrong with its file. */
function readSecret(source: SecretSource): Secret {
  if ('value' in source) return { secret: source.value };
  const { file } = source;
  try {
    // A pipe or a device would be waited for, for ever.
    if (!statSync(file).isFile()) return faulty(`the path ${file} is no ordinary file`, 'write the secret into one');
    const content = readFileSync(file, 'utf8');
    if (content.length > LARGEST_SECRET_FILE)
      return faulty(`the file ${file} is too large to be a secret`, 'name the file whose first line holds it');
    const [secret = ''] = content.split(/\r?\n/, 1);
    return secret === '' ? faulty(`the first line of ${file} is empty`, 'write the secret there') : { secret };
  } catch (error) {
    const code = codeOf(error) || 'unknown error';
    return faulty(`the file ${file} cannot be read (${code})`, 'check its path and permissions', error);
  }
}

function faulty(message: string, fix: string, cause?: unknown): Secret {
  return { fault: { message, fix }, cause };
}
