import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { isWritten } from './blocking-trigger.ts';

/**
 * Another program with an open write transaction; this process counts as one for the worker. Ends with the test at the
 * latest.
 */
export type OtherWriter = { readonly end: () => void };

export function holdForWriting(database: string, how: 'IMMEDIATE' | 'EXCLUSIVE' = 'IMMEDIATE'): OtherWriter {
  const writer = new Database(database, { timeout: 5_000 });
  const end = (): void => {
    writer.close();
  };
  onTestFinished(end);
  writer.exec(`BEGIN ${how}`);
  return { end };
}

/** Whether a worker holds the lock, its last step before it opens the database. */
export function isLocked(database: string): boolean {
  const lock = `${database}.lock`;
  return existsSync(lock) && isWritten(lock);
}
