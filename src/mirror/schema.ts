import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { labelOf, type MirrorTarget } from '../config/mirror.ts';
import { DatabaseError, RefusedError, RunError } from '../errors.ts';
import { findPackage } from '../package.ts';
import { openMirrorSnapshot } from '../store/queries/mirror.ts';
import { connect, type Session, type Transaction } from './connect.ts';
import { nameOf, quoteIdentifier } from './error.ts';
import { assertEarlier, assertSameDatabase, FIND_STATE, readState, STATE } from './state.ts';
import { executeAll, LISTED, OWN_SCHEMA } from './statements.ts';
import { describedRows, RELATIONS } from './tables.ts';

/** Of which database the mirror is to be: its id, and its host and path. */
export type MirrorOrigin = { readonly id: string; readonly path: string };

const VERSION_TABLE = `CREATE TABLE "mirror_migrations" (version bigint PRIMARY KEY, name text NOT NULL,
  database_path text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`;

export type Preparation = { readonly target: MirrorTarget; readonly origin: MirrorOrigin; readonly suffix: string };

/** Makes what the mirror lacks: its schema, tables, views, comments and the row of its state. */
export function prepareMirror({ transaction, target }: Session, origin: MirrorOrigin): Promise<void> {
  return transaction(async (tx) => {
    // One at a time; unlike a table to lock, this works before there is any.
    await tx.query(
      'SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0::bigint))',
      `league-sync ${target.schema}`,
    );
    await assertUsable(tx, target);
    await findOwnMirror(tx, origin);
    await prepareRelations(tx, { target, origin, suffix: '' });
  });
}

export async function prepareRelations(tx: Transaction, preparation: Preparation): Promise<void> {
  await migrate(tx, preparation);
  await describeRelations(tx, preparation.suffix);
  const { id, path } = preparation.origin;
  await tx.query(`UPDATE "mirror_migrations" SET database_path = $1 WHERE database_path <> $1`, path);
  await tx.query(
    `INSERT INTO "mirror_state" (database, seq, program_version)
      SELECT $1, 0, $2 WHERE NOT EXISTS (SELECT FROM "mirror_state") AND NOT EXISTS (SELECT FROM "league_changes")`,
    id,
    findPackage().version,
  );
}

// Cast every argument exactly: otherwise a function of the same name that another role made in the schema could fit
// better, and would be called with the rights of this one.

const RIGHTS = `SELECT current_user AS role, current_database() AS database, current_setting('server_encoding') AS encoding,
  current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
  has_database_privilege(current_database()::text, 'CREATE') AS may_create,
  current_setting('transaction_read_only') = 'on' AS is_read_only,
  EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS schema_exists,
  (SELECT has_schema_privilege(oid, 'USAGE') AND has_schema_privilege(oid, 'CREATE')
    FROM pg_namespace WHERE nspname = $1) AS may_use`;

const OLDEST_SERVER = 150_000;

/** Creates a missing schema; resolves to the version of the server. A RunError names a missing right. */
export async function assertUsable(
  { queryAsIs }: Transaction,
  target: MirrorTarget,
  { create } = { create: true },
): Promise<string> {
  const [row = {}] = await queryAsIs(RIGHTS, target.schema);
  const [role, schema] = [nameOf(String(row.role)), nameOf(target.schema)];
  const refuse = (what: string, fix: string): never => {
    throw new RunError('network', true, `The mirror at ${labelOf(target)} cannot be used: ${what}.`, { fix });
  };
  if (Number(row.number) < OLDEST_SERVER) refuse(`it is PostgreSQL ${row.version}`, 'use PostgreSQL 15 or newer');
  if (row.is_read_only === true)
    refuse('it is a standby, or default_transaction_read_only is on', 'name the primary server, or turn that off');
  if (row.encoding !== 'UTF8') refuse(`its encoding is ${row.encoding}`, 'use a database whose encoding is UTF8');
  if (row.schema_exists === true) {
    if (row.may_use !== true)
      refuse(`${role} may not use the schema ${schema}`, `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${role}`);
  } else if (row.may_create !== true) {
    const grant = `GRANT CREATE ON DATABASE ${nameOf(String(row.database))} TO ${role}`;
    refuse(`${role} may not create the schema ${schema}`, `${grant}, or CREATE SCHEMA ${schema} AUTHORIZATION ${role}`);
  } else if (create) await queryAsIs(`CREATE SCHEMA ${quoteIdentifier(target.schema)}`);
  return String(row.version);
}

/** Whether there is a mirror already. Rejects with a RefusedError if it is one of another database. */
export async function findOwnMirror({ queryAsIs }: Transaction, origin: MirrorOrigin): Promise<boolean> {
  const [found] = await queryAsIs(FIND_STATE);
  if (found === undefined) return false;
  for (const row of await queryAsIs(STATE)) assertSameDatabase(readState(row), origin);
  return true;
}

export type Inspection = Awaited<ReturnType<typeof inspectMirror>>;

/**
 * The version of the server, how it is reached (`tls`, undefined without TLS), and how far the mirror is, unless it was
 * not filled yet. Locks and changes nothing. Rejects with a RunError if the mirror cannot be used, or not by this database.
 */
export async function inspectMirror(path: string, target: MirrorTarget) {
  using session = await connect(target);
  const { tls } = session;
  // Awaited here, since the session ends with this function.
  return await session.transaction(async (tx) => {
    const version = await assertUsable(tx, target, { create: false });
    if ((await findSchemaVersion(tx, target)) === undefined) return { version, tls };
    const state = readState((await tx.query(STATE))[0]);
    using snapshot = openMirrorSnapshot(path);
    assertEarlier(state, snapshot);
    return { version, tls, filled: { seq: state.seq, lag: snapshot.lastSeq() - state.seq } };
  });
}

/** Undefined without a mirror. Rejects with a RefusedError if the relations there are not of one, or of a newer one. */
async function findSchemaVersion({ query }: Transaction, target: MirrorTarget, suffix = '') {
  const found = await query(FIND_RELATIONS, RELATIONS.map((name) => name + suffix).join());
  const names = found.map(({ relname }) => relname);
  if (!names.includes(`mirror_migrations${suffix}`)) {
    if (names.length > 0) {
      const what = `The schema ${nameOf(target.schema)} has a relation ${names[0]} that is not of a mirror.`;
      throw new RefusedError(what, { fix: 'name another schema with LEAGUE_SYNC_POSTGRES_SCHEMA' });
    }
    return undefined;
  }
  const [row] = await query(`SELECT coalesce(max(version), 0) AS version FROM "mirror_migrations"`);
  const version = Number(row?.version);
  const known = readMirrorMigrations().length;
  if (version <= known) return version;
  const what = `its tables have version ${version}, this one knows ${known}`;
  throw new RefusedError(`The mirror was made by a newer version of league-sync (${what}).`, {
    fix: 'use that version, or rebuild the mirror with league-sync mirror rebuild',
  });
}

async function migrate(tx: Transaction, { target, origin, suffix }: Preparation): Promise<void> {
  const { query } = tx;
  const version = await findSchemaVersion(tx, target, suffix);
  if (version === undefined) await query(VERSION_TABLE);
  for (const [index, { name, sql }] of readMirrorMigrations().entries()) {
    if (index < (version ?? 0)) continue;
    await query(sql);
    const insert = `INSERT INTO "mirror_migrations" (version, name, database_path) VALUES ($1, $2, $3)`;
    await query(insert, index + 1, name, origin.path);
  }
}

const FIND_RELATIONS = `SELECT relname FROM pg_class WHERE ${LISTED}`;

/** Throws a DatabaseError if the package is incomplete. */
function readMirrorMigrations() {
  const files = globSync(join(findPackage().migrations, 'postgres', '*.sql')).sort();
  if (files.length > 0) return files.map((file) => ({ name: basename(file, '.sql'), sql: readFileSync(file, 'utf8') }));
  throw new DatabaseError('The package lacks migrations/postgres.', { fix: 'reinstall league-sync' });
}

/** Sets the comments that are missing or differ. */
function describeRelations(tx: Transaction, suffix: string): Promise<void> {
  const rows = describedRows().map(({ object, ...row }) => ({ ...row, relation: object + suffix }));
  return executeAll(tx, COMMENT, JSON.stringify(rows));
}

const COMMENT = `SELECT pg_catalog.format('COMMENT ON %s %I%s IS %L',
    CASE WHEN column_name IS NOT NULL THEN 'COLUMN' WHEN relkind = 'v' THEN 'VIEW' ELSE 'TABLE' END,
    relation, '.' || quote_ident(column_name), row.description) AS statement
  FROM jsonb_to_recordset($1::jsonb) AS row(relation text, column_name text, description text)
  JOIN pg_class ON relname = relation AND relnamespace = ${OWN_SCHEMA}
  LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attname = column_name
  LEFT JOIN pg_description AS stored ON stored.objoid = pg_class.oid AND stored.objsubid = coalesce(attnum, 0)
    AND stored.classoid = 'pg_class'::regclass
  WHERE row.description IS DISTINCT FROM stored.description`;
