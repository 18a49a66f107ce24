import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { codeOf, DatabaseError } from '../errors.ts';
import { APPLICATION_ID } from './database-file.ts';
import { addDemoMark } from './demo-mark.ts';

/** One step of the schema, as it lies in `migrations/`. */
type Migration = {
  /** Counts from 1; the database's `user_version` once it is applied. */
  readonly version: number;
  readonly name: string;
  readonly statements: readonly string[];
  readonly sha256: string;
};

type Journal = { readonly entries: readonly { readonly idx: number; readonly tag: string }[] };

/** Reads the migrations in the order of drizzle-kit's journal. Throws a DatabaseError where the package is incomplete. */
export function readMigrations(folder: string): readonly Migration[] {
  const journal = JSON.parse(readPart(join(folder, 'meta', '_journal.json'))) as Journal;
  return journal.entries.map(({ idx, tag }) => {
    const text = readPart(join(folder, `${tag}.sql`)).replaceAll('\r\n', '\n');
    return {
      version: idx + 1,
      name: tag,
      statements: text.split('--> statement-breakpoint'),
      sha256: createHash('sha256').update(text).digest('hex'),
    };
  });
}

function readPart(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new DatabaseError(`The package lacks ${file} (${codeOf(cause)}).`, { cause, fix: 'reinstall league-sync' });
  }
}

/** How a database that holds something came to the present schema; `copy` is the database as it was. */
export type Upgrade = { readonly from: number; readonly to: number; readonly copy: string };

/** The upgrade that is due: of a database that holds something and is of an older schema. Its copy goes beside it. */
export function pendingUpgrade(
  db: Database.Database,
  migrations: readonly Migration[],
  path: string,
): Upgrade | undefined {
  const from = schemaVersion(db);
  if (from === 0 || from === migrations.length) return undefined;
  const isEmpty = db.prepare('SELECT 1 FROM runs LIMIT 1').get() === undefined;
  return isEmpty ? undefined : { from, to: migrations.length, copy: `${path}.schema-${from}` };
}

export type MigrateOptions = {
  /** Under which the steps are filed. */
  readonly at: string;
  /** Whether a demo makes the database, which is then marked as its own. */
  readonly isDemo: boolean;
};

/**
 * Brings the schema up to date in one transaction, under the worker's lock. Not drizzle's own migrator: that one
 * compares dates only, so an edited, a missing or a newer migration would go unnoticed.
 */
export function migrate(db: Database.Database, migrations: readonly Migration[], { at, isDemo }: MigrateOptions): void {
  const pending = migrations.slice(schemaVersion(db));
  if (pending.length === 0) return;
  const record = 'INSERT INTO schema_migrations (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)';
  db.transaction(() => {
    for (const migration of pending) {
      for (const statement of migration.statements) db.exec(statement);
      db.prepare(record).run(migration.version, migration.name, migration.sha256, at);
    }
    if (isDemo) addDemoMark(db, at);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${migrations.length}`);
  }).immediate();
}

/** 0 for a file that is not ours yet, whatever number somebody else wrote into it. */
function schemaVersion(db: Database.Database): number {
  if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID) return 0;
  return Number(db.pragma('user_version', { simple: true }));
}

/**
 * Throws a DatabaseError where another version of the program has written the database than this one can serve: a newer
 * one, or one with other migrations.
 */
export function refuseOther(db: Database.Database, migrations: readonly Migration[], path: string): void {
  const version = schemaVersion(db);
  if (version === 0) return;
  if (version > migrations.length) {
    throw new DatabaseError(
      `The database ${path} was written by a newer version of league-sync (schema ${version}, this one knows ${migrations.length}).`,
      { fix: 'use that version' },
    );
  }
  const applied = db.prepare<[number], string>('SELECT sha256 FROM schema_migrations WHERE version = ?').pluck();
  const other = migrations.slice(0, version).find((migration) => applied.get(migration.version) !== migration.sha256);
  if (other === undefined) return;
  throw new DatabaseError(`The database ${path} was made with another form of migration ${other.name}.`, {
    fix: 'reinstall league-sync, or restore a backup',
  });
}
