import { hash } from 'node:crypto';
import type { Store } from '../store/store.ts';
import { NOTHING_DONE } from '../store/tables/outputs.ts';
import type { Message, WebhookRow } from '../store/tables/webhook.ts';
import { type Clock, formatTimestamp } from '../time/clock.ts';
import { type Attempt, LIMITS, makeChangesMessage, makeMessage } from './message.ts';
import { announcedBy, describeChange, findUnannounced, forgetEnded, isOutdated, passOver, toStates } from './states.ts';

/** When an attempt ended, and when the next one is due, in ms. */
type When = { readonly at: number; readonly nextAt: number };
type Options = { readonly store: Store; readonly clock: Clock; readonly isStale: () => boolean };

/** The row of the table `webhook`: what was told, and which message is next. Rejects with a DatabaseError. */
export function createOutbox({ store, clock, isStale }: Options) {
  const { webhook: rows, outputs } = store;
  const source = store.read(store.identity.id);
  /** Writes the result of an attempt that the database has not taken yet. */
  let unrecorded: (() => void) | undefined;

  const readStates = () => toStates(rows.states(), isStale());
  const requireRow = (): WebhookRow => {
    const row = rows.find();
    if (row === undefined) throw new Error('the row of the table webhook was deleted');
    return row;
  };
  const needsMessage = (row: WebhookRow, states = readStates()): boolean => {
    if (row.message_id !== null) return isOutdated(row, states);
    return findUnannounced(states, row) !== undefined || store.feed.lastSeq() > row.accepted_seq;
  };
  /** The next message: a state that was not told yet, before changes. */
  const makeNext = (row: WebhookRow): Message | undefined => {
    const states = readStates();
    const { last_success_at: as_of, stale_at, held_since } = states;
    const origin = { source, as_of, stale_at, madeAt: formatTimestamp(clock.now()) };
    const change = findUnannounced(states, row);
    if (change === undefined) return makeChangesMessage(origin, store.feed.changesAfter(row.accepted_seq, LIMITS));
    const message = makeMessage(change, origin, describeChange(change, store.attention(), states));
    return change === 'removals.held' ? { ...message, message_held_since: held_since } : message;
  };
  /** The path and the query of the URL may be secrets, so only its host is stored, and a hash to compare it by. */
  const hashOf = ({ href }: URL): string => hash('sha256', `${source}\n${href}`, 'base64url');
  const setAddress = (url: URL, row: WebhookRow): boolean => {
    const url_hash = hashOf(url);
    if (url_hash === row.url_hash) return false;
    rows.update({ url_hash, moved_at: formatTimestamp(clock.now()), not_before: null, stopped_at: null });
    outputs.update('webhook', { ...NOTHING_DONE, label: url.host, seq: row.accepted_seq });
    return true;
  };
  /** Records what came of an attempt; only what was told and its `Retry-After` if the message was given up meanwhile. */
  const record = (tried: WebhookRow, { outcome, what, notBefore, isSent }: Attempt, { at, nextAt }: When): void => {
    const row = requireRow();
    const not_before = notBefore === undefined ? row.not_before : formatTimestamp(notBefore);
    const told = isSent ? announcedBy(tried) : {};
    if (row.message_id !== tried.message_id) {
      rows.update({ not_before, ...told });
      return;
    }
    const accepted_seq = row.message_to_seq ?? row.accepted_seq;
    const now = formatTimestamp(at);
    if (outcome === 'accepted') {
      rows.dropMessage();
      rows.update({ accepted_seq, not_before: null, ...told });
      outputs.succeed('webhook', { seq: accepted_seq, done_at: now });
      return;
    }
    const isGone = outcome === 'gone';
    rows.update(isGone ? { stopped_at: now, ...told } : { not_before, ...told });
    const next_attempt_at = isGone ? null : formatTimestamp(nextAt);
    outputs.fail('webhook', now, { last_error: what, next_attempt_at, refused: isGone });
  };

  return {
    /** Inserts the row at the first start. Later starts keep it. */
    begin: (url: URL, signal: AbortSignal): Promise<WebhookRow> =>
      store.write(() => {
        if (rows.find() === undefined) {
          const moved_at = formatTimestamp(clock.now());
          rows.insert({ accepted_seq: store.feed.lastSeq(), moved_at, ...passOver(readStates()) });
        }
        setAddress(url, requireRow());
        outputs.open('webhook', url.host, requireRow().accepted_seq);
        return requireRow();
      }, signal),

    /** Makes the next message if none is in flight, and drops one that tells a state that has changed back. */
    prepare: async (signal: AbortSignal): Promise<WebhookRow> => {
      const row = store.read(requireRow);
      const states = store.read(readStates);
      const ended = forgetEnded(states, row);
      if (Object.keys(ended).length > 0) await store.write(() => rows.update(ended), signal);
      if (!store.read(() => needsMessage(row, states))) return row;
      return store.write(() => {
        // Read again: another process may have written in the meantime.
        const current = requireRow();
        if (!needsMessage(current)) return current;
        const next = makeNext(current);
        if (next === undefined) rows.dropMessage();
        else rows.setMessage(next);
        return requireRow();
      }, signal);
    },

    /** If the address is new, forgets how the old one failed. Resolves to whether it is. */
    setAddress: async (url: URL, row: WebhookRow): Promise<boolean> =>
      hashOf(url) !== row.url_hash && store.write(() => setAddress(url, requireRow())),

    /** Undefined if another process has given the message up. */
    body: (id: string): string | undefined => store.read(() => rows.body(id)),

    /** Takes the result of an attempt to send the message of the row, which `flush` stores. */
    add: (tried: WebhookRow, attempt: Attempt, when: When): void => {
      unrecorded = () => record(tried, attempt, when);
    },
    /** Stores the result of the last attempt. Nothing else may be sent before that. */
    flush: async (): Promise<void> => {
      if (unrecorded !== undefined) await store.write(unrecorded);
      unrecorded = undefined;
    },
  };
}
