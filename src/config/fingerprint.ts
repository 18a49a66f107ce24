import { RunError } from '../errors.ts';
import { hashOf } from '../hash.ts';
import type { Config } from './config.ts';

/** Tells services and accounts apart in the database, without naming either. */
export function fingerprintOf({ baseUrl, credentials }: Config): string {
  return hashOf(`${baseUrl}\n${usernameOf(credentials)}`);
}

function usernameOf(credentials: Config['credentials']): string {
  try {
    return credentials.read().username;
  } catch (error) {
    // The first login says what is wrong with the file; until then the account has no name.
    if (error instanceof RunError) return '';
    throw error;
  }
}
