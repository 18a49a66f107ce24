import type Database from 'better-sqlite3';
import { eq, getTableColumns, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { outputs, webhook } from '../schema.ts';
import { createUpdate } from './column-update.ts';
import { createOutputRows, type OutputRow } from './outputs.ts';

type Row = typeof webhook.$inferSelect;

/** The state of the deliveries, without the body of the message in flight; `output` is null if no webhook is set. */
export type WebhookRow = Omit<Row, 'message_body'> & { readonly output: OutputRow | null };

/** The message in flight, which stays as it is until it is accepted or given up. Its body is sent byte for byte. */
export type Message = Partial<Row> & { readonly message_id: string; readonly message_body: string };

/** The states that the receiver has been told. */
export type Announced = Pick<Row, 'announced_stale' | 'announced_held_since' | 'announced_refused'>;

/** What the database says about the states that are told. */
export type StoredStates = {
  readonly last_success_at: string | null;
  /** From when on the data of that poll is stale. */
  readonly stale_at: string | null;
  /** When the newest removal that is not accepted was held; null if there is none. */
  readonly held_since: string | null;
  /** Both null before the first login. */
  readonly last_login_at: string | null;
  readonly last_login: 'ok' | 'refused' | 'failed' | null;
};

const NO_MESSAGE = {
  message_id: null,
  message_type: null,
  message_made_at: null,
  message_from_seq: null,
  message_to_seq: null,
  message_held_since: null,
  message_body: null,
} as const;

export function createWebhookRows(client: Database.Database) {
  const db = drizzle({ client });
  const output = createOutputRows(client);
  const { message_body: _, ...columns } = getTableColumns(webhook);
  // A literal: SQLite would plan the query anew each second for a bound value, which takes five times as long.
  const selectRow = db
    .select({ ...columns, output: outputs })
    .from(webhook)
    .leftJoin(outputs, eq(outputs.name, sql`'webhook'`))
    .prepare();
  const selectBody = client.prepare<[string], string>('SELECT message_body FROM webhook WHERE message_id = ?').pluck();
  const selectStates = client.prepare<[], StoredStates>(`SELECT
      success.finished_at AS last_success_at, success.stale_at, login.at AS last_login_at, login.outcome AS last_login,
      (SELECT max(held_since) FROM held_removals WHERE accepted_at IS NULL) AS held_since
    FROM (SELECT 1)
    LEFT JOIN (SELECT * FROM runs WHERE id = (SELECT good_run_id FROM last_polls)) AS success
    LEFT JOIN (SELECT * FROM logins ORDER BY id DESC LIMIT 1) AS login`);
  const update = createUpdate<Partial<Omit<Row, 'id'>>>(client, 'webhook', 'id = 1');
  return {
    /** Undefined until a worker has a webhook, or a replay was asked for. */
    find: (): WebhookRow | undefined => selectRow.get(),
    /** Undefined if the message is no longer in flight. */
    body: (id: string): string | undefined => selectBody.get(id),
    states: () => selectStates.get() as StoredStates,
    insert: (row: Pick<Row, 'accepted_seq' | 'moved_at'> & Announced): void => {
      db.insert(webhook)
        .values({ id: 1, ...row })
        .run();
    },
    update,
    setMessage: (message: Message): void => {
      output.clear('webhook');
      update({ ...NO_MESSAGE, ...message });
    },
    dropMessage: (): void => {
      output.clear('webhook');
      update(NO_MESSAGE);
    },
    /** Continues after the change `seq`, with new messages. Ends a stop by a 410, but no `Retry-After`. */
    moveTo: (seq: number, at: string): void => {
      output.clear('webhook');
      output.update('webhook', { seq });
      update({ ...NO_MESSAGE, accepted_seq: seq, moved_at: at, stopped_at: null });
    },
  };
}
