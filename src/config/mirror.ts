import type { Problem } from '../errors.ts';
import { findSource } from './credentials.ts';
import type { Environment, Settings } from './environment.ts';
import { type PostgresServer, readPostgresUrl } from './postgres-url.ts';
import { readAll, readSetting, settingsError, type Values } from './settings.ts';

/** Where the mirror is. Kept in memory only. */
export type MirrorTarget = { readonly server: PostgresServer; readonly schema: string };

/** Reads secret files again, since they may have changed. Throws a SettingsError, whose text contains no secrets. */
export type MirrorSource = () => MirrorTarget;

const URL_NAME = 'LEAGUE_SYNC_POSTGRES_URL';
const SCHEMA_NAME = 'LEAGUE_SYNC_POSTGRES_SCHEMA';

/** Undefined if no URL is set. Throws a SettingsError. */
export function findMirror(values: Values, environment: Environment): MirrorSource | undefined {
  return findSource(values, URL_NAME, (url) =>
    readAll({
      server: () => readPostgresUrl(url.read(), url.name, environment),
      schema: () => readSetting(values, SCHEMA_NAME),
    }),
  );
}

/** For `mirror`, which needs no other settings. Throws a SettingsError, also if no URL is set. */
export function loadMirror({ values }: Settings, environment: Environment): MirrorSource {
  const source = findMirror(values, environment);
  if (source !== undefined) return source;
  throw settingsError(`${URL_NAME} is not set`, 'set it to the PostgreSQL database that mirrors this one');
}

/** A warning if there is a schema, but no URL. */
export function findUnusedSchema(values: Values, mirror: MirrorSource | undefined): readonly Problem[] {
  if (mirror !== undefined || values[SCHEMA_NAME] === undefined) return [];
  return [{ message: `${SCHEMA_NAME} is set, but ${URL_NAME} is not`, fix: `set ${URL_NAME}, or remove the schema` }];
}

/** What may be shown of the mirror: `db.example.com:5433/leagues, schema league_sync`. */
export function describeMirror(target: MirrorTarget): string {
  return `${labelOf(target)}, schema ${target.schema}`;
}

/** Such as `db.example.com:5433/leagues`: what may be shown of the server. */
export function labelOf({ server: { host, port, database } }: Pick<MirrorTarget, 'server'>): string {
  return `${host.includes(':') ? `[${host}]` : host}${port === 5_432 ? '' : `:${port}`}/${database}`;
}
