import type { WebhookSource, WebhookTarget } from '../config/webhook.ts';
import { SettingsError, StoppedError, toRunError } from '../errors.ts';
import type { Listener } from '../events.ts';
import { createRetryAfter } from '../http/retry-after.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import type { WebhookRow } from '../store/tables/webhook.ts';
import type { Clock } from '../time/clock.ts';
import { formatDuration } from '../time/duration.ts';
import { createWakeableSleep } from '../time/wakeable-sleep.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { retryWaitMs } from './retry-wait.ts';
import { type Attempt, sendMessage } from './send.ts';

export type DeliveryOptions = {
  readonly store: Store;
  readonly source: WebhookSource;
  readonly clock: Clock;
  /** Whether the leagues are stale. */
  readonly isStale: () => boolean;
  readonly random: () => number;
  readonly log: Log;
  readonly emit: Listener;
};

/** How often the states, the URL, and what other processes wrote (`webhook replay`, `skip`) are looked at, in ms. */
const TICK_MS = 1_000;

/** Sends messages to the receiver of the webhook, one at a time. Polls never wait for it or fail because of it. */
export class Delivery {
  private readonly options: DeliveryOptions;
  private readonly outbox: Outbox;
  /** The message that `dueAt` is about. */
  private messageId: string | null = null;
  /** When the next attempt is due, in ms on the monotonic clock. */
  private dueAt = 0;
  private retryAfter: ReturnType<typeof createRetryAfter>;
  /** Whether `retryNow` was called since the attempt began. */
  private isRetryAsked = false;
  /** Writes the result of an attempt that the database has not taken yet. Until then, nothing else is sent. */
  private unrecorded: (() => void) | undefined;
  private readonly rest: ReturnType<typeof createWakeableSleep>;
  private lastFault: string | undefined;

  constructor(options: DeliveryOptions, outbox: Outbox, { not_before }: WebhookRow) {
    this.options = options;
    this.outbox = outbox;
    const { clock } = options;
    this.rest = createWakeableSleep(clock);
    this.retryAfter = createRetryAfter(clock, not_before === null ? 0 : Date.parse(not_before) - clock.now());
  }

  readonly onEvent: Listener = ({ type }) => {
    if (type === 'runEnded' || type === 'login') this.rest.wake();
  };

  /** Ends the wait before the next attempt, also that after an attempt in progress, but not a Retry-After. */
  retryNow(): void {
    this.dueAt = 0;
    this.isRetryAsked = true;
    this.rest.wake();
  }

  /** Delivers until the signal aborts; never rejects. */
  async deliver(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const waitMs = await this.step(signal).catch((error: unknown) => this.noteFault(error));
      if (waitMs > 0) await this.rest.sleep(Math.min(waitMs, TICK_MS), signal);
    }
    // The request that a stop aborts has no result, but the one before it may have one.
    await this.writeResult().catch((error: unknown) => this.noteFault(error));
  }

  /** Resolves to how long to wait before the next step, in ms. */
  private async step(signal: AbortSignal): Promise<number> {
    const { clock } = this.options;
    await this.writeResult();
    const row = await this.outbox.prepare(signal);
    this.lastFault = undefined;
    if (row.message_id === null) return TICK_MS;
    const target = this.readTarget();
    if (!(target instanceof SettingsError) && (await this.outbox.setAddress(target.url, row))) {
      this.dueAt = 0;
      this.retryAfter = createRetryAfter(clock);
      return 0;
    }
    if (row.stopped_at !== null) return TICK_MS;
    // A new message is tried at once, as is any once `webhook test` was accepted.
    if (row.message_id !== this.messageId || row.output?.next_attempt_at == null) this.dueAt = 0;
    this.messageId = row.message_id;
    const leftMs = this.leftMs();
    if (leftMs > 0) return leftMs;
    this.isRetryAsked = false;
    const attempt = await this.attempt(row.message_id, target, signal);
    if (attempt !== undefined) this.record(row, row.message_id, attempt);
    return 0;
  }

  private async writeResult(): Promise<void> {
    if (this.unrecorded !== undefined) await this.options.store.write(this.unrecorded);
    this.unrecorded = undefined;
  }

  private readTarget(): WebhookTarget | SettingsError {
    try {
      return this.options.source();
    } catch (error) {
      if (error instanceof SettingsError) return error;
      throw error;
    }
  }

  /** Undefined if another process has given the message up since the row was read. */
  private async attempt(
    id: string,
    target: WebhookTarget | SettingsError,
    signal: AbortSignal,
  ): Promise<Attempt | undefined> {
    if (target instanceof SettingsError)
      return { outcome: 'failed', isSent: false, what: target.problems[0]?.message ?? target.message };
    const { store, clock } = this.options;
    const body = store.read(() => store.webhook.body(id));
    return body === undefined ? undefined : sendMessage({ id, body }, target, { clock, signal });
  }

  private record(row: WebhookRow, id: string, attempt: Attempt): void {
    const { clock, random, log, emit } = this.options;
    const { outcome, what, notBefore } = attempt;
    const now = clock.now();
    const { label: host = '', failed_attempts: before = 0 } = row.output ?? {};
    const failures = before + 1;
    const waitMs = this.isRetryAsked ? 0 : retryWaitMs(failures, random());
    this.dueAt = outcome === 'failed' ? clock.monotonic() + waitMs : 0;
    if (outcome === 'failed' && notBefore !== undefined) this.retryAfter.extend(notBefore);
    const nextAt = now + this.leftMs();
    this.unrecorded = this.outbox.result(id, attempt, { at: now, nextAt });
    emit({ type: 'webhookAttempt', outcome });
    const { message_type: type } = row;
    const line = { host, message_id: id, message_type: type, ...boundsOf(row) };
    if (outcome === 'accepted') {
      if (before === 0) log.debug(line, `the webhook at ${host} accepted a message`);
      else log.info({ ...line, failures: failures - 1 }, `the webhook at ${host} accepts messages again`);
    } else if (outcome === 'gone') {
      const fix = 'correct LEAGUE_SYNC_WEBHOOK_URL, or call league-sync webhook replay or skip';
      log.warn({ ...line, failures }, `the webhook at ${host} answered 410 (Gone): nothing more is sent; ${fix}`);
    } else {
      const text = `the webhook at ${host} failed: ${what}; next attempt in ${formatDuration(nextAt - now)}`;
      if (failures === 1) log.warn({ ...line, failures }, text);
      else log.info({ ...line, failures }, text);
    }
  }

  /** How long to wait before the next attempt, in ms. */
  private leftMs(): number {
    const { clock } = this.options;
    return Math.max(0, this.dueAt - clock.monotonic(), this.retryAfter.until() - clock.now());
  }

  /** The worker's other parts report what is wrong with the database, so a failed read or write is noted only once. */
  private noteFault(error: unknown): number {
    const { message } = toRunError(error);
    if (error instanceof StoppedError || message === this.lastFault) return TICK_MS;
    this.lastFault = message;
    this.options.log.warn({ err: toRunError(error) }, 'the webhook has to wait');
    return TICK_MS;
  }
}

function boundsOf({ message_from_seq: from_seq, message_to_seq: to_seq }: WebhookRow) {
  return from_seq === null ? {} : { from_seq, to_seq };
}

/**
 * Opens the delivery of a worker; undefined without a webhook. The first delivery of a database begins behind the last
 * change there is. Rejects with a DatabaseError, or with the StoppedError of `signal`.
 */
export async function openDelivery(
  { source, ...options }: Omit<DeliveryOptions, 'source'> & { readonly source: WebhookSource | undefined },
  signal: AbortSignal,
): Promise<Delivery | undefined> {
  if (source === undefined) return undefined;
  const outbox = createOutbox(options);
  const row = await outbox.begin(source().url, signal);
  return new Delivery({ ...options, source }, outbox, row);
}
