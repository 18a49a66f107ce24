import { readFileSync, statSync } from 'node:fs';
import { CredentialsError, codeOf, type Fault, SettingsError } from '../errors.ts';

/** What the player logs in with. Lives in memory only. */
export type CredentialPair = { readonly username: string; readonly password: string };

/**
 * Where the pair comes from. `read` looks the files up anew, so that a rotated secret is picked up; it throws a
 * CredentialsError that names the file and never its content.
 */
export type Credentials = { readonly read: () => CredentialPair };

/** A secret given directly, or the path of the file whose first line is it. */
export type SecretSource = { readonly value: string } | { readonly file: string };

type Values = Readonly<Record<string, string>>;

/** A secret is a line; a file larger than this is the wrong file. */
const LARGEST_SECRET_FILE = 65_536;

export function createCredentials(username: SecretSource, password: SecretSource): Credentials {
  return { read: () => ({ username: readUsername(username), password: readSecret(password) }) };
}

/** The credentials that the settings name. What is wrong with them is added to the faults. */
export function findCredentials(values: Values, faults: Fault[]): Credentials | undefined {
  const find = (name: string, what: string, read: typeof readSecret): SecretSource | undefined =>
    collect(() => {
      const source = findSource(values, name);
      const fix = `set it to ${what}, or ${name}_FILE to a file that holds it`;
      if (source === undefined) throw new SettingsError([{ message: `${name}: is not set`, fix }]);
      readSetting(name, source, read);
      return source;
    }, faults);
  const username = find('LEAGUE_SYNC_USERNAME', "the player's username", readUsername);
  const password = find('LEAGUE_SYNC_PASSWORD', "the player's password", readSecret);
  return username && password && createCredentials(username, password);
}

/** Where a setting stands that may be given as `…_FILE` instead. Throws a SettingsError if both forms are set. */
export function findSource(values: Values, name: string): SecretSource | undefined {
  const { [name]: value, [`${name}_FILE`]: file } = values;
  if (value !== undefined && file !== undefined) {
    throw new SettingsError([{ message: `${name}: both it and ${name}_FILE are set`, fix: 'keep one of them' }]);
  }
  if (file !== undefined) return { file };
  return value === undefined ? undefined : { value };
}

/** What a setting holds now. Throws a SettingsError that names the setting if its file cannot be used. */
export function readSetting(name: string, source: SecretSource, read = readSecret): string {
  try {
    return read(source);
  } catch (error) {
    if (!(error instanceof CredentialsError)) throw error;
    const what = error.what.charAt(0).toLowerCase() + error.what.slice(1).replace(/\.$/, '');
    const message = `${'file' in source ? `${name}_FILE` : name}: ${what}`;
    throw new SettingsError([{ message, fix: error.fix ?? 'correct it' }]);
  }
}

/** What the work gives; undefined if it throws a SettingsError, whose faults are added to the others. */
export function collect<T>(work: () => T, faults: Fault[]): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    faults.push(...error.faults);
    return undefined;
  }
}

/** The Basic scheme ends the username at the first colon, so a colon would log in as somebody else. */
function readUsername(source: SecretSource): string {
  const username = readSecret(source);
  if (!username.includes(':')) return username;
  throw new CredentialsError('A username with a colon cannot be sent.', {
    fix: 'ask the operator of the service for one without',
  });
}

/** The secret that a source holds now. Throws a CredentialsError that says what is wrong with its file. */
export function readSecret(source: SecretSource): string {
  if ('value' in source) return source.value;
  const content = readSecretFile(source.file);
  if (content.length > LARGEST_SECRET_FILE)
    throw new CredentialsError(`The file ${source.file} is too large to be a secret.`, {
      fix: 'name the file whose first line holds it',
    });
  const line = content.split(/\r?\n/, 1)[0] ?? '';
  if (line === '')
    throw new CredentialsError(`The first line of ${source.file} is empty.`, { fix: 'write the secret there' });
  return line;
}

function readSecretFile(path: string): string {
  try {
    // A pipe or a device would be waited for, for ever.
    if (!statSync(path).isFile())
      throw new CredentialsError(`The path ${path} is no ordinary file.`, { fix: 'write the secret into one' });
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause instanceof CredentialsError) throw cause;
    const code = codeOf(cause) || 'unknown error';
    const fix = 'check its path and permissions';
    throw new CredentialsError(`The file ${path} cannot be read (${code}).`, { cause, fix });
  }
}
