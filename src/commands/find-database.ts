import { databasePath } from '../config/paths.ts';
import { withReader } from '../store/connection.ts';
import { hasDemoMark } from '../store/demo-mark.ts';
import { assertSchemaNotOlder } from '../store/migrate.ts';
import type { ProcessIO } from './command.ts';

/** The option `--database`, of the commands that need only the database. */
export type DatabaseOption = { readonly database?: string | undefined };

/** The path of the database. Throws a DatabaseError if there is none, or if it has an older schema. */
export function findDatabase(io: ProcessIO, { database: option }: DatabaseOption): string {
  const path = option ?? settingOf(io);
  io.adviseOn({ option });
  withReader(path, (db) => {
    assertSchemaNotOlder(db, path);
    io.adviseOn({ option, isDemo: hasDemoMark(db) });
  });
  return path;
}

function settingOf({ settings, warn }: ProcessIO): string {
  const { values, warnings } = settings();
  for (const warning of warnings) warn(warning);
  return databasePath(values);
}
