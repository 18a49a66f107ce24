import { type RunError, toRunError } from '../errors.ts';
import type { RetryAfter } from '../http/retry-after.ts';
import type { Log } from '../log.ts';
import type { RunKind, Trigger } from '../store/tables/runs.ts';
import type { RunReport } from '../sync/report.ts';
import { formatSecond, formatTimestamp } from '../time/clock.ts';

export type RunQueueOptions = {
  readonly poll: Readonly<Record<RunKind, (trigger: Trigger) => Promise<RunReport>>>;
  readonly retryAfter: RetryAfter;
  /** The error that keeps a kind from being polled until a wait of the session ends; otherwise undefined. */
  readonly blockedBy: (kind: RunKind) => RunError | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
};

const ORDER: readonly RunKind[] = ['leagues', 'profile'];

/** Executes runs one after the other; if both kinds are waiting, the leagues come first. */
export class RunQueue {
  private readonly options: RunQueueOptions;
  private readonly waiting = new Map<RunKind, Trigger>();
  /** The kinds whose run was postponed by a Retry-After, or failed because of the session, and needs a catch-up. */
  private readonly owed = new Set<RunKind>();
  private current: RunKind | undefined;
  private draining: Promise<void> = Promise.resolve();

  constructor(options: RunQueueOptions) {
    this.options = options;
  }

  /** Queues a run. Returns false if it was skipped or postponed, or if the worker is stopping. */
  request(kind: RunKind, trigger: Trigger): boolean {
    const { signal, retryAfter, log } = this.options;
    if (signal.aborted) return false;
    // Only a slot is skipped: a run in progress began before a catch-up or a person's request, and may miss a change.
    if (this.current === kind && trigger === 'schedule') {
      log.warn({ kind, trigger }, `${kind}: skipped: the previous run is still in progress`);
      return false;
    }
    const until = retryAfter.until();
    if (until > 0) {
      if (trigger === 'manual' || !this.owed.has(kind))
        log.warn(
          { kind, trigger, not_before: formatTimestamp(until) },
          `${kind}: postponed to ${formatSecond(until)} (Retry-After)`,
        );
      this.owed.add(kind);
      return false;
    }
    if (!this.waiting.has(kind)) this.waiting.set(kind, trigger);
    // Asynchronous, so that runs that are due at the same time are all waiting before the first one starts.
    this.draining = this.draining.then(() => this.drain());
    return true;
  }

  /**
   * Requests a catch-up for a kind in `owed` if nothing blocks it. Does nothing while a run is in progress: if the
   * service rejects or postpones that run, the catch-up must wait, too.
   */
  resume(): void {
    const { retryAfter, blockedBy } = this.options;
    if (this.current !== undefined || retryAfter.until() > 0) return;
    const kind = ORDER.find((kind) => this.owed.has(kind) && blockedBy(kind) === undefined);
    if (kind === undefined) return;
    this.owed.delete(kind);
    this.request(kind, 'catch-up');
  }

  running(): RunKind | undefined {
    return this.current;
  }

  /** Resolves when no run is in progress or waiting. After a stop, waiting runs do not count. */
  idle(): Promise<void> {
    return this.draining;
  }

  private async drain(): Promise<void> {
    const { poll, blockedBy, log, signal } = this.options;
    while (!signal.aborted) {
      const kind = ORDER.find((kind) => this.waiting.has(kind));
      if (kind === undefined) return;
      const trigger = this.waiting.get(kind) ?? 'schedule';
      this.waiting.delete(kind);
      this.current = kind;
      try {
        const report = await poll[kind](trigger);
        const { postponed, error } = report;
        const isBlocked = error?.kind === 'credentials' || (error !== undefined && blockedBy(kind) !== undefined);
        if (postponed || isBlocked) this.owed.add(kind);
        else this.owed.delete(kind);
      } catch (error) {
        log.error({ err: toRunError(error), kind }, 'a run failed and could not be recorded');
      } finally {
        this.current = undefined;
      }
    }
  }
}
