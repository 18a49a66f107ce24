import type Database from 'better-sqlite3';
import { and, eq, ne, notInArray, or } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { tryOrUndefined } from '../../try-or-undefined.ts';
import { withSecondWriter } from '../connection.ts';
import { outputs } from '../schema.ts';
import { readLockStatus } from '../worker-lock.ts';
import { createUpdate } from './column-update.ts';

export type OutputRow = typeof outputs.$inferSelect;
export type OutputName = OutputRow['name'];

/** Each is the name of its setting in `Config`, too. */
export const OUTPUT_NAMES = outputs.name.enumValues;

/** An output that does not fail. */
export const WELL = {
  failed_attempts: 0,
  failing_since: null,
  last_error: null,
  next_attempt_at: null,
  refused: false,
};

/** An output of which nothing is known yet. */
export const NOTHING_DONE = { ...WELL, seq: null, done_at: null };

export type OutputRows = ReturnType<typeof createOutputRows>;

/** How far each output is that is set (webhook, mirror, copy). */
export function createOutputRows(client: Database.Database) {
  const db = drizzle({ client });
  const selectOne = (name: OutputName) => db.select().from(outputs).where(eq(outputs.name, name)).get();
  const updateRow = createUpdate<Partial<OutputRow>>(client, 'outputs', 'name = @which');
  const update = (name: OutputName, values: Partial<OutputRow>): void => updateRow(values, { which: name });
  return {
    find: selectOne,
    update,
    /** Adds the row of an output. Of one that leads elsewhere than before, nothing is known. */
    open: (
      name: OutputName,
      label: string,
      seq: number | null = null,
      fed_by: OutputRow['fed_by'] = 'worker',
    ): OutputRow => {
      const found = selectOne(name);
      if (found === undefined) return db.insert(outputs).values({ name, label, seq, fed_by }).returning().get();
      const values = { label, fed_by, ...(found.label === label ? {} : { ...NOTHING_DONE, seq }) };
      update(name, values);
      return { ...found, ...values };
    },
    /** Forgets how the output failed. */
    clear: (name: OutputName): void => update(name, WELL),
    succeed: (name: OutputName, done: Pick<OutputRow, 'done_at'> & Partial<OutputRow>): void =>
      update(name, { ...WELL, ...done }),
    fail: (
      name: OutputName,
      at: string,
      failure: Partial<Pick<OutputRow, 'last_error' | 'next_attempt_at' | 'refused'>>,
    ) => {
      const { failed_attempts = 0, failing_since = null } = selectOne(name) ?? {};
      update(name, { ...failure, failed_attempts: failed_attempts + 1, failing_since: failing_since ?? at });
    },
    /** Removes the rows of outputs that are not set, but not that of a mirror that only `league-sync mirror` writes. */
    keepOnly: (names: readonly OutputName[]): void => {
      const isUnset = names.length === 0 ? undefined : notInArray(outputs.name, [...names]);
      db.delete(outputs)
        .where(and(isUnset, or(ne(outputs.name, 'mirror'), eq(outputs.fed_by, 'worker'))))
        .run();
    },
  };
}

/** Writes the row of a mirror that no worker writes now, if that is possible. */
export function recordMirror(path: string, label: string, change: (rows: OutputRows) => void): void {
  const record = (client: Database.Database): void => {
    const rows = createOutputRows(client);
    if (rows.find('mirror')?.fed_by === 'worker' && readLockStatus(path).state !== 'none') return;
    rows.open('mirror', label, null, 'command');
    change(rows);
  };
  // It may be another user's file, or a locked one: the mirror is what the command is for.
  tryOrUndefined(() => withSecondWriter(path, (client) => client.transaction(record).immediate(client)));
}
