import { execute } from './database.ts';

/** The event that fires the trigger: a table, an operation, and optionally a condition on its rows. */
export type TriggerEvent = { readonly on: string; readonly when?: string };

/** Creates a trigger like another program could, which runs `action` at the next matching write of the worker. */
export function addBlockingTrigger(database: string, { on, when = 'true' }: TriggerEvent, action: string): void {
  execute(database, `CREATE TRIGGER obstacle BEFORE ${on} WHEN ${when} BEGIN SELECT ${action}; END`);
}

export function dropBlockingTrigger(database: string): void {
  execute(database, 'DROP TRIGGER obstacle');
}

/** An action that takes a few seconds. */
export const SECONDS = 'count(*) FROM leagues a, leagues b, leagues c, leagues d';
