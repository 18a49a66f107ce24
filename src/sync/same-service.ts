import { SettingsError } from '../errors.ts';

/** Throws a SettingsError if the database belongs to another service. `owner` is null before the first good poll. */
export function assertSameService(path: string, owner: string | null, baseUrl: string): void {
  if (owner === null || withoutScheme(owner) === withoutScheme(baseUrl)) return;
  const message = `LEAGUE_SYNC_BASE_URL is ${baseUrl}, but the database ${path} belongs to the service at ${owner}`;
  const fix =
    'name another file in LEAGUE_SYNC_DATABASE, or, if that service has moved here, run league-sync sync --service-moved';
  throw new SettingsError([{ message, fix }]);
}

/** http and https are the same service. Base URLs have the host in lower case, no default port, no slash at the end. */
function withoutScheme(url: string): string {
  return url.replace(/^https?:/, '');
}
