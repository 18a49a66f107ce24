import { SettingsError } from '../errors.ts';

/**
 * Throws a SettingsError if the database at `path` belongs to another service: that would mix the leagues of two.
 * `owner` is the base URL of its first good poll; null before that. http and https are the same service.
 */
export function assertSameService(path: string, owner: string | null, baseUrl: string): void {
  if (owner === null || withoutScheme(owner) === withoutScheme(baseUrl)) return;
  const message = `LEAGUE_SYNC_BASE_URL is ${baseUrl}, but the database ${path} belongs to the service at ${owner}`;
  const fix =
    'name another file in LEAGUE_SYNC_DATABASE, or, if that service has moved here, run league-sync sync --service-moved';
  throw new SettingsError([{ message, fix }]);
}

/** Base URLs are stored as URLs write them: host in lower case, no default port, no slash at the end. */
function withoutScheme(url: string): string {
  return url.replace(/^https?:/, '');
}
