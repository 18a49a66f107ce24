import { lastSeq } from '../store/queries/feed.ts';
import { prepareStatus } from '../store/queries/overview.ts';
import { type BesideWorker, writeBesideWorker } from '../store/second-writer.ts';
import { createOutputRows } from '../store/tables/outputs.ts';
import { createWebhookRows } from '../store/tables/webhook.ts';
import { formatTimestamp } from '../time/clock.ts';
import { passOver, toStates } from './states.ts';

/** What `webhook replay` or `skip` found and did. */
export type Moved = {
  /** The last change of the feed; 0 if there is none. */
  readonly lastSeq: number;
  /** The last change that had been accepted or skipped; undefined if no worker has had a webhook yet. */
  readonly from: number | undefined;
  /** Whether the worker that started last has a webhook. */
  readonly enabled: boolean;
};

/** Goes on after the change `to`, or at the end with all states told. Rejects with a DatabaseError. */
export function moveDeliveries(path: string, to: number | 'end', options: BesideWorker): Promise<Moved> {
  return writeBesideWorker(path, options, (client) => {
    const rows = createWebhookRows(client);
    const row = rows.find();
    const at = formatTimestamp(options.clock.now());
    const last = lastSeq(client);
    const isStale = prepareStatus(client)
      .attention()
      .some(({ what }) => what === 'stale');
    const told = passOver(toStates(rows.states(), isStale), row);
    if (row !== undefined) rows.moveTo(to === 'end' ? last : to, at);
    else if (to !== 'end') rows.insert({ accepted_seq: to, moved_at: at, ...told });
    if (to === 'end') rows.update(told);
    return { lastSeq: last, from: row?.accepted_seq, enabled: row?.output != null };
  });
}

/** Makes the next attempt of a message that failed due. Resolves to whether there is one; rejects like the above. */
export function retryDelivery(path: string, options: BesideWorker): Promise<boolean> {
  return writeBesideWorker(path, options, (client) => {
    const { output, not_before } = createWebhookRows(client).find() ?? {};
    const isPaused = (not_before ?? '') > formatTimestamp(options.clock.now());
    const isWaiting = output?.next_attempt_at != null && !isPaused;
    if (isWaiting) createOutputRows(client).update('webhook', { next_attempt_at: null });
    return isWaiting;
  });
}
