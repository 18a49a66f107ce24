import { loadDatabasePath } from '../config/paths.ts';
import { findPackage } from '../package.ts';
import { withReader } from '../store/connection.ts';
import { assertSchemaNotOlder, readMigrations } from '../store/migrate.ts';
import type { ProcessIO } from './command.ts';

/** The option `--database`, of the commands that need only the database. */
export type DatabaseOption = { readonly database?: string | undefined };

/** The path of the database. Throws a DatabaseError if there is none, or if it has an older schema. */
export async function findDatabase(io: ProcessIO, option: DatabaseOption): Promise<string> {
  const path = option.database ?? (await loadDatabasePath(io));
  const known = readMigrations(findPackage().migrations);
  withReader(path, (db) => assertSchemaNotOlder(db, known, path));
  return path;
}
