import { findSource, requireSource } from './credentials.ts';
import { readPostgresUrl } from './postgres-url.ts';
import type { Environment, Settings } from './read-environment.ts';
import { readAll, readSetting, type Values } from './setting-definitions.ts';

/** Reads secret files again, since they may have changed. Throws a SettingsError, whose text contains no secrets. */
export type MirrorSource = NonNullable<ReturnType<typeof findMirror>>;

/** Where the mirror is. Kept in memory only. */
export type MirrorTarget = ReturnType<MirrorSource>;

const URL_NAME = 'LEAGUE_SYNC_POSTGRES_URL';

/** Undefined if no URL is set. Throws a SettingsError. */
export function findMirror(values: Values, environment: Environment) {
  return findSource(values, [URL_NAME], (url) =>
    readAll({
      server: () => readPostgresUrl(url.read(), url.name, environment),
      schema: () => readSetting(values, 'LEAGUE_SYNC_POSTGRES_SCHEMA'),
    }),
  );
}

/** For `mirror`, which needs no other settings. Throws a SettingsError, also if no URL is set. */
export function loadMirror({ values }: Settings, environment: Environment): MirrorSource {
  return requireSource(findMirror(values, environment), URL_NAME, 'the PostgreSQL database that mirrors this one');
}

/** What may be shown of the mirror: `db.example.com:5433/leagues, schema league_sync`. */
export function describeMirror(target: MirrorTarget): string {
  return `${labelOf(target)}, schema ${target.schema}`;
}

/** Such as `db.example.com:5433/leagues`: what may be shown of the server. */
export function labelOf({ server: { host, port, database } }: Pick<MirrorTarget, 'server'>): string {
  return `${host.includes(':') ? `[${host}]` : host}${port === 5_432 ? '' : `:${port}`}/${database}`;
}
