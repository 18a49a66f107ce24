import type { Problem } from '../errors.ts';
import type { Config } from './config.ts';
import { findSecret } from './credentials.ts';
import type { Settings } from './environment.ts';
import { readAll, readPostgresUrl, readSetting, settingsError, type Values } from './settings.ts';

/** Where the mirror is. Kept in memory only: the URL may contain a password. */
export type MirrorTarget = { readonly url: URL; readonly schema: string };

/** Reads a secret file again, since it may have changed. Throws a SettingsError, whose text contains no secrets. */
export type MirrorSource = () => MirrorTarget;

const URL_NAME = 'LEAGUE_SYNC_POSTGRES_URL';
const SCHEMA_NAME = 'LEAGUE_SYNC_POSTGRES_SCHEMA';

/** Undefined if no URL is set. Throws a SettingsError. */
export function findMirror(values: Values): MirrorSource | undefined {
  const url = findSecret(values, URL_NAME);
  if (url === undefined) return undefined;
  const read = (): MirrorTarget =>
    readAll({
      url: () => readPostgresUrl(url.read(), url.name),
      schema: () => readSetting(values, SCHEMA_NAME),
    });
  read();
  return read;
}

/** For `mirror`, which needs no other settings. Throws a SettingsError, also if no URL is set. */
export function loadMirror({ values }: Settings): MirrorSource {
  const source = findMirror(values);
  if (source !== undefined) return source;
  throw settingsError(`${URL_NAME} is not set`, 'set it to the PostgreSQL database that mirrors this one');
}

/** A warning if there is a schema, but no URL. */
export function findUnusedSchema({ mirror }: Pick<Config, 'mirror'>, values: Values): readonly Problem[] {
  if (mirror !== undefined || values[SCHEMA_NAME] === undefined) return [];
  return [{ message: `${SCHEMA_NAME} is set, but ${URL_NAME} is not`, fix: `set ${URL_NAME}, or remove the schema` }];
}

/** Such as `db.example.com:5433/leagues`: what may be shown of the URL. */
export function labelOf({ url }: Pick<MirrorTarget, 'url'>): string {
  const { searchParams, pathname } = url;
  const port = searchParams.get('port') || url.port;
  return `${hostOf(url) || 'localhost'}${port === '' ? '' : `:${port}`}${decodeURI(pathname)}`;
}

/** The host that is connected to: as in libpq, a parameter wins, and the folder of a socket is percent-encoded. */
export function hostOf({ searchParams, hostname }: URL): string {
  return searchParams.get('host') || decodeURIComponent(hostname);
}
