import type { WebhookSource, WebhookTarget } from '../config/webhook.ts';
import { RunError, SettingsError, StoppedError, toRunError } from '../errors.ts';
import type { Listener, WorkerEvent } from '../events.ts';
import { createVoice } from '../failure-streak.ts';
import { type SendRequest, sendRequest } from '../http/request.ts';
import { createRetryAfter } from '../http/retry-after.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import type { WebhookRow } from '../store/tables/webhook.ts';
import { type Clock, createWakeableLoop } from '../time/clock.ts';
import { formatDuration } from '../time/duration.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { type Attempt, sendMessage } from './message.ts';
import { createOutbox } from './outbox.ts';
import { retryWaitMs } from './retry-schedule.ts';

type DeliveryOptions = {
  readonly store: Store;
  readonly source: WebhookSource;
  readonly clock: Clock;
  /** Whether the leagues are stale. */
  readonly isStale: () => boolean;
  readonly random: () => number;
  readonly send?: SendRequest;
  readonly log: Log;
  readonly emit: Listener;
};

/** How often the states, the URL, and what other processes wrote (`webhook replay`, `skip`) are looked at, in ms. */
const TICK_MS = 1_000;
const FIX_GONE = 'correct LEAGUE_SYNC_WEBHOOK_URL, or call league-sync webhook replay or skip';

export type Delivery = Awaited<ReturnType<typeof openDelivery>>;

/**
 * Sends messages to the receiver of the webhook, one at a time; the first begins behind the last change. Polls never
 * wait for it or fail because of it. Rejects with a DatabaseError or like `opening`.
 */
export async function openDelivery(options: DeliveryOptions, opening: AbortSignal) {
  const outbox = createOutbox(options);
  const { not_before } = await outbox.begin(options.source().url, opening);
  const { source, clock, random, log, emit, send = sendRequest } = options;
  const loop = createWakeableLoop(clock);
  const voice = createVoice(log, clock);
  /** Of the database, about which the worker's other parts say more. */
  const faults = createVoice(log, clock, 'debug');
  let retryAfter = createRetryAfter(clock, not_before === null ? 0 : Date.parse(not_before) - clock.now());
  /** When the next attempt is due, in ms on the monotonic clock. */
  let dueAt = 0;
  /** Whether `retryNow` was called since the attempt began. */
  let isRetryAsked = false;

  /** How long to wait before the next attempt, in ms. */
  const leftMs = (): number => Math.max(0, dueAt - clock.monotonic(), retryAfter.until() - clock.now());
  /** Undefined if another process has given the message up since the row was read. */
  const attempt = async (
    id: string,
    target: WebhookTarget | undefined,
    signal: AbortSignal,
  ): Promise<Attempt | undefined> => {
    const body = outbox.body(id);
    if (body === undefined) return undefined;
    try {
      return await sendMessage({ message_id: id, message_body: body }, target ?? source(), { clock, signal, send });
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      return { outcome: 'failed', isSent: false, what: error.problems[0]?.message ?? error.message };
    }
  };
  const record = (row: WebhookRow, id: string, result: Attempt): void => {
    const { outcome, what, status, notBefore } = result;
    const now = clock.now();
    const { label: host = '', failed_attempts: before = 0 } = row.output ?? {};
    const failures = before + 1;
    const waitMs = isRetryAsked ? 0 : retryWaitMs(failures, random());
    dueAt = outcome === 'failed' ? clock.monotonic() + waitMs : 0;
    if (outcome === 'failed' && notBefore !== undefined) retryAfter.extend(notBefore);
    const nextAt = now + leftMs();
    outbox.add(row, result, { at: now, nextAt });
    emit({ type: 'webhookAttempt', outcome });
    const { message_type, message_from_seq: from_seq, message_to_seq: to_seq } = row;
    const line = { host, message_id: id, message_type, ...(from_seq === null ? {} : { from_seq, to_seq }) };
    const title = `the webhook at ${host}`;
    if (outcome === 'accepted') {
      log.debug(line, `${title} accepted a message`);
      voice.worked(line, title, before > 0);
      return;
    }
    // Nothing is sent any more, so this is always a warning.
    if (outcome === 'gone') voice.forget();
    const error = new RunError(status === undefined ? 'network' : 'status', true, what, { httpStatus: status });
    const text =
      outcome === 'gone'
        ? `${title} answered 410 (Gone): nothing more is sent; ${FIX_GONE}`
        : `${title} failed: ${what}; next attempt in ${formatDuration(nextAt - now)}`;
    voice.failed(error, { ...line, failures }, text);
  };
  /** Resolves to how long to wait before the next step, in ms. */
  const step = async (signal: AbortSignal): Promise<number> => {
    await outbox.flush();
    const row = await outbox.prepare(signal);
    if (row.message_id === null) return TICK_MS;
    // If it cannot be read now, the attempt says why.
    const target = tryOrUndefined(source);
    if (target !== undefined && (await outbox.setAddress(target.url, row))) {
      dueAt = 0;
      retryAfter = createRetryAfter(clock);
      voice.forget();
      return 0;
    }
    if (row.stopped_at !== null) return TICK_MS;
    // A new message is tried at once, as is any once `webhook test` was accepted.
    if (row.output?.next_attempt_at == null) dueAt = 0;
    if (leftMs() > 0) return leftMs();
    isRetryAsked = false;
    const result = await attempt(row.message_id, target, signal);
    if (result !== undefined) record(row, row.message_id, result);
    return 0;
  };
  const noteFault = (error: unknown): number => {
    if (!(error instanceof StoppedError)) faults.failed(toRunError(error), {}, 'the webhook has to wait');
    return TICK_MS;
  };
  const stepWithoutFault = (signal: AbortSignal): Promise<number> =>
    step(signal).then((waitMs) => {
      faults.forget();
      return Math.min(waitMs, TICK_MS);
    }, noteFault);
  return {
    onEvent: ({ type }: WorkerEvent): void => {
      if (type === 'runEnded' || type === 'login') loop.wake();
    },
    /** Ends the wait before the next attempt, also that after an attempt in progress, but not a Retry-After. */
    retryNow: (): void => {
      dueAt = 0;
      isRetryAsked = true;
      loop.wake();
    },
    /** Delivers until the signal aborts; never rejects. */
    deliver: async (signal: AbortSignal): Promise<void> => {
      await loop.repeat(0, () => stepWithoutFault(signal), signal);
      // The request that a stop aborts has no result, but the one before it may have one.
      await outbox.flush().catch(noteFault);
    },
  };
}
