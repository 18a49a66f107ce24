import Database from 'better-sqlite3';
import { codeOf } from '../../src/errors.ts';

/** The event that fires the trigger: a table, an operation, and optionally a condition on its rows. */
export type TriggerEvent = { readonly on: string; readonly when?: string };

/** Creates a trigger like another program could, which runs `action` at the next matching write of the worker. */
export function addBlockingTrigger(database: string, { on, when = 'true' }: TriggerEvent, action: string): void {
  write(database, `CREATE TRIGGER obstacle BEFORE ${on} WHEN ${when} BEGIN SELECT ${action}; END`);
}

export function dropBlockingTrigger(database: string): void {
  write(database, 'DROP TRIGGER obstacle');
}

/** An action that outlasts the test: a hundred leagues make 10^12 rows. */
export const ENDLESS = 'count(*) FROM leagues a, leagues b, leagues c, leagues d, leagues e, leagues f';

function write(database: string, sql: string): void {
  const db = new Database(database, { timeout: 5_000 });
  try {
    db.exec(sql);
  } finally {
    db.close();
  }
}

/** Whether some program is in the middle of a write transaction. */
export function isWritten(database: string): boolean {
  const db = new Database(database, { timeout: 0 });
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch (error) {
    if (codeOf(error) !== 'SQLITE_BUSY') throw error;
    return true;
  } finally {
    db.close();
  }
}
