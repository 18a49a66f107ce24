import type { Transaction } from './connect.ts';
import { type Column, hasId, LEAGUE_CHANGES, LEAGUES, POSTGRES_TYPES, type Table } from './tables.ts';

// Relations are in double quotes, as in migrations/postgres: see `Transaction.query`. Rows arrive as one JSON list.

/** Upserts rows that differ. Of keys that are the same without what PostgreSQL cannot hold, one row is taken. */
export function upsertStatement({ name, columns, key }: Table): string {
  const names = columns.map((column) => column.name);
  const others = names.filter((column) => !key.includes(column));
  const selected = columns.map(({ name: column, type }) => (type === 'json' ? `${column}::jsonb` : column));
  const sent = columns.map((column) => (column.type === 'json' ? { ...column, type: 'text' as const } : column));
  return `INSERT INTO "${name}" AS stored (${names.join(', ')})
    SELECT DISTINCT ON (${key.join(', ')}) ${selected.join(', ')}
    FROM ${recordset(sent)}
    ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(', ')}
    WHERE (${others.map((column) => `stored.${column}`).join(', ')})
      IS DISTINCT FROM (${others.map((column) => `excluded.${column}`).join(', ')})`;
}

/** Deletes the rows whose keys are not in the list; of a table with ids, those of ids from the one to before the other. */
export function deleteStatement({ name, columns, key }: Table): string {
  const keys = columns.filter((column) => key.includes(column.name));
  const range = hasId({ key }) ? 'AND stored.id >= $2::bigint AND ($3::bigint IS NULL OR stored.id < $3::bigint)' : '';
  return `DELETE FROM "${name}" AS stored WHERE NOT EXISTS (SELECT FROM ${recordset(keys)}
    WHERE ${key.map((column) => `sent.${column} = stored.${column}`).join(' AND ')}) ${range}`;
}

const FROM_JSON: Readonly<Record<Column['type'], (name: string) => string>> = {
  text: (name) => `league ->> '${name}'`,
  any: (name) => `league ->> '${name}'`,
  number: (name) => `(league ->> '${name}')::numeric`,
  boolean: (name) => `(league ->> '${name}')::boolean`,
  json: (name) => `nullif(league -> '${name}', 'null')`,
  integer: (name) => `(league ->> '${name}')::bigint`,
  instant: (name) => name,
};

/**
 * Appends changes to the feed, and brings `leagues` to the state after them: every row of it follows from the last
 * change of its league, which has the whole league, and from when the first one added it.
 */
export function followStatement(): string {
  const changes = LEAGUE_CHANGES.columns.map(({ name }) => name).join(', ');
  const names = LEAGUES.columns.map(({ name }) => name);
  const values = LEAGUES.columns.map(({ name, type }) => (name === 'league_id' ? name : FROM_JSON[type](name)));
  const updated = names.filter((name) => name !== 'league_id' && name !== 'first_seen_at');
  return `WITH added AS (
      INSERT INTO "league_changes" (${changes}) SELECT ${changes} FROM ${recordset(LEAGUE_CHANGES.columns)} RETURNING *
    ), latest AS (
      SELECT DISTINCT ON (league_id) league_id, coalesce(after, before) AS league, at AS changed_at,
        min(at) OVER (PARTITION BY league_id) AS first_seen_at, CASE kind WHEN 'removed' THEN at END AS removed_at
      FROM added ORDER BY league_id, seq DESC
    )
    INSERT INTO "leagues" (${names.join(', ')}) SELECT ${values.join(', ')} FROM latest
    ON CONFLICT (league_id) DO UPDATE SET ${updated.map((name) => `${name} = excluded.${name}`).join(', ')}`;
}

function recordset(columns: readonly Column[]): string {
  const list = columns.map(({ name, type }) => `${name} ${POSTGRES_TYPES[type]}`);
  return `jsonb_to_recordset($1::jsonb) AS sent(${list.join(', ')})`;
}

/** The schema of the mirror, which is the only one in the search path; NULL if there is none. */
export const OWN_SCHEMA = '(SELECT oid FROM pg_namespace WHERE nspname = current_schema())';

/** Of `pg_class`: the relations in the mirror's schema whose names $1 lists. */
export const LISTED = `relnamespace = ${OWN_SCHEMA} AND relname = ANY (string_to_array($1::text, ','::text))`;

/** Executes each statement that a query has made. */
export async function executeAll({ queryAsIs }: Transaction, sql: string, ...values: readonly string[]): Promise<void> {
  for (const { statement } of await queryAsIs(sql, ...values)) await queryAsIs(String(statement));
}
