import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { codeOf, DatabaseError } from '../errors.ts';
import { findPackage } from '../package.ts';
import { APPLICATION_ID } from './database-file.ts';
import { addDemoMark } from './demo-mark.ts';

export type Migrations = ReturnType<typeof readMigrations>;

/** Reads the migrations in the order of drizzle-kit's journal. Throws a DatabaseError if the package is incomplete. */
export function readMigrations(folder = findPackage().migrations) {
  const journal: { entries: readonly { tag: string }[] } = JSON.parse(
    readPackageFile(join(folder, 'meta', '_journal.json')),
  );
  return journal.entries.map(({ tag: name }, index) => {
    const text = readPackageFile(join(folder, `${name}.sql`)).replaceAll('\r\n', '\n');
    const statements = text.split('--> statement-breakpoint');
    return { version: index + 1, name, statements, sha256: hash('sha256', text) };
  });
}

function readPackageFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new DatabaseError(`The package lacks ${file} (${codeOf(cause)}).`, { cause, fix: 'reinstall league-sync' });
  }
}

/** An upgrade between two schema versions; the database is copied to `copy` beforehand. */
export type Upgrade = { readonly from: number; readonly to: number; readonly copy: string };

/** Undefined if no migration is pending or the database has no runs yet. */
export function pendingUpgrade(db: Database.Database, migrations: Migrations, path: string): Upgrade | undefined {
  const from = schemaVersion(db);
  if (from === 0 || from === migrations.length) return undefined;
  const isEmpty = db.prepare('SELECT 1 FROM runs LIMIT 1').get() === undefined;
  return isEmpty ? undefined : { from, to: migrations.length, copy: `${path}.schema-${from}` };
}

/** Applies pending migrations in one transaction. drizzle's migrator would not notice that a migration was edited. */
export function migrate(db: Database.Database, migrations: Migrations, at: string, isDemo = false): void {
  const pending = migrations.slice(schemaVersion(db));
  if (pending.length === 0) return;
  const record = 'INSERT INTO schema_migrations (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)';
  db.transaction(() => {
    for (const { version, name, statements, sha256 } of pending) {
      for (const statement of statements) db.exec(statement);
      db.prepare(record).run(version, name, sha256, at);
    }
    if (isDemo) addDemoMark(db, at);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${migrations.length}`);
  }).immediate();
}

/** Reads a database in memory that has the schema of these migrations and no rows. */
export function withEmptyDatabase<T>(migrations: Migrations, read: (db: Database.Database) => T): T {
  const db = new Database(':memory:');
  try {
    migrate(db, migrations, '2026-01-01T00:00:00.000Z');
    return read(db);
  } finally {
    db.close();
  }
}

/** The number of migrations applied; 0 for a file that is not ours yet. */
export function schemaVersion(db: Database.Database): number {
  if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID) return 0;
  return Number(db.pragma('user_version', { simple: true }));
}

/** Throws a DatabaseError if another program version wrote the database and it has another schema. */
export function assertSchemaCurrent(db: Database.Database, path: string): void {
  assertSchemaKnown(db, readMigrations(), path);
  assertSchemaNotOlder(db, path);
}

/** Throws a DatabaseError if the database must be upgraded. A newer schema can be read: versions only ever add to it. */
export function assertSchemaNotOlder(db: Database.Database, path: string): void {
  const [version, newest] = [schemaVersion(db), readMigrations().length];
  if (version >= newest) return;
  throw new DatabaseError(
    `The database ${path} has schema ${version}, of an older version of league-sync; this version needs schema ${newest}.`,
    { fix: 'start league-sync run or league-sync sync, which upgrades it and keeps a copy of the old database' },
  );
}

/** Throws a DatabaseError if a newer program version, or one with other migrations, wrote the database. */
export function assertSchemaKnown(db: Database.Database, migrations: Migrations, path: string): void {
  const version = schemaVersion(db);
  if (version > migrations.length) {
    throw new DatabaseError(
      `The database ${path} was written by a newer version of league-sync (schema ${version}, this one knows ${migrations.length}).`,
      { fix: 'use that version, or go back to the copy that the upgrade made beside the database' },
    );
  }
  if (version === 0) return;
  const applied = db.prepare<[number], string>('SELECT sha256 FROM schema_migrations WHERE version = ?').pluck();
  const other = migrations.slice(0, version).find((migration) => applied.get(migration.version) !== migration.sha256);
  if (other === undefined) return;
  throw new DatabaseError(`The database ${path} was made with a different version of migration ${other.name}.`, {
    fix: 'reinstall league-sync, or restore a backup',
  });
}
