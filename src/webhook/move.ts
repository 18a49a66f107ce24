import { findPackage } from '../package.ts';
import { createRetryWhileBusy } from '../store/busy.ts';
import { withReader, withSecondWriter } from '../store/connection.ts';
import { assertSchemaCurrent, readMigrations } from '../store/migrate.ts';
import { createWebhookRows } from '../store/tables/webhook.ts';
import { type Clock, formatTimestamp } from '../time/clock.ts';
import { toldAtFirst, toStates } from './states.ts';

/** What `webhook replay` or `skip` found and did. */
export type Moved = {
  /** The last change of the feed; 0 if there is none. */
  readonly lastSeq: number;
  /** The last change that had been accepted or skipped; undefined if no worker has had a webhook yet. */
  readonly from: number | undefined;
  /** Whether the worker that started last has a webhook. */
  readonly enabled: boolean;
};

type MoveOptions = { readonly clock: Clock; readonly stop: AbortSignal };

/**
 * Continues the deliveries after the change `to`; with `end`, after the last change, with all states told. A message in
 * flight is given up. May run beside a worker. Throws or rejects with a DatabaseError.
 */
export function moveDeliveries(path: string, to: number | 'end', { clock, stop }: MoveOptions): Promise<Moved> {
  // Checks the file read-only first: a writable connection could apply a WAL to a file that is then refused.
  withReader(path, (db) => assertSchemaCurrent(db, readMigrations(findPackage().migrations), path));
  return createRetryWhileBusy(
    clock,
    stop,
  )(() =>
    withSecondWriter(path, (client) => {
      const rows = createWebhookRows(client);
      const move = (): Moved => {
        const row = rows.find();
        const [lastSeq, at] = [rows.lastSeq(), formatTimestamp(clock.now())];
        const moved = { lastSeq, from: row?.accepted_seq, enabled: row?.enabled ?? false };
        const told = toldAtFirst(toStates(rows.states(), clock.now()));
        if (row !== undefined) rows.moveTo(to === 'end' ? lastSeq : to, at);
        else if (to !== 'end') rows.insert({ enabled: false, accepted_seq: to, moved_at: at, ...told });
        if (to === 'end') rows.update(told);
        return moved;
      };
      return client.transaction(move).immediate();
    }),
  );
}
