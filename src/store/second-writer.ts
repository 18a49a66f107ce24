import type Database from 'better-sqlite3';
import type { Clock } from '../time/clock.ts';
import { createRetryWhileBusy } from './busy.ts';
import { withReader, withSecondWriter } from './connection.ts';
import { assertSchemaCurrent } from './migrate.ts';

export type BesideWorker = { readonly clock: Clock; readonly stop: AbortSignal };

/** Writes, in one transaction, to a database that a worker may have open. Rejects with a DatabaseError. */
export async function writeBesideWorker<T>(
  path: string,
  { clock, stop }: BesideWorker,
  write: (client: Database.Database) => T,
): Promise<T> {
  // Checks the file read-only first: a writable connection could apply a WAL to a file that is then refused.
  withReader(path, (client) => assertSchemaCurrent(client, path));
  const retryWhileBusy = createRetryWhileBusy(clock, stop);
  return retryWhileBusy(() => withSecondWriter(path, (client) => client.transaction(write).immediate(client)));
}
