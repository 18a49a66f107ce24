import { readFileSync, statSync } from 'node:fs';
import { CredentialsError, codeOf } from '../errors.ts';

/** What the player logs in with. Lives in memory only. */
export type CredentialPair = { readonly username: string; readonly password: string };

/**
 * Where the pair comes from. `read` looks the files up anew, so that a rotated secret is picked up; it throws a
 * CredentialsError that names the file and never its content.
 */
export type Credentials = { readonly read: () => CredentialPair };

/** A secret given directly, or the path of the file whose first line is it. */
export type SecretSource = { readonly value: string } | { readonly file: string };

/** A secret is a line; a file larger than this is the wrong file. */
const LARGEST_SECRET_FILE = 65_536;

export function createCredentials(username: SecretSource, password: SecretSource): Credentials {
  return {
    read: () => {
      const pair = { username: readSecret(username), password: readSecret(password) };
      // The Basic scheme ends the username at the first colon, so a colon would log in as somebody else.
      if (pair.username.includes(':')) throw new CredentialsError('The username holds a colon, which cannot be sent.');
      return pair;
    },
  };
}

/** The secret that a source holds now. Throws a CredentialsError that says what is wrong with its file. */
export function readSecret(source: SecretSource): string {
  if ('value' in source) return source.value;
  const content = readSecretFile(source.file);
  if (content.length > LARGEST_SECRET_FILE)
    throw new CredentialsError(`The file ${source.file} is too large to be a secret.`);
  const line = content.split(/\r?\n/, 1)[0] ?? '';
  if (line === '') throw new CredentialsError(`The first line of ${source.file} is empty; write the secret there.`);
  return line;
}

function readSecretFile(path: string): string {
  try {
    // A pipe or a device would be waited for, for ever.
    if (!statSync(path).isFile())
      throw new CredentialsError(`The path ${path} is no ordinary file; write the secret into one.`);
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause instanceof CredentialsError) throw cause;
    const code = codeOf(cause) || 'unknown error';
    throw new CredentialsError(`The file ${path} cannot be read (${code}); check its path and permissions.`, { cause });
  }
}
