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

export type RunQueue = ReturnType<typeof createRunQueue>;

/** Executes runs one after the other; if both kinds are waiting, the leagues come first. */
export function createRunQueue({ poll, retryAfter, blockedBy, log, signal }: RunQueueOptions) {
  const waiting = new Map<RunKind, Trigger>();
  /** The kinds whose run was postponed by a Retry-After, or failed because of the session, and needs a catch-up. */
  const owed = new Set<RunKind>();
  let current: RunKind | undefined;
  let draining: Promise<void> = Promise.resolve();

  const run = async (kind: RunKind, trigger: Trigger): Promise<void> => {
    current = kind;
    try {
      const { postponed, error } = await poll[kind](trigger);
      const isBlocked = error?.kind === 'credentials' || (error !== undefined && blockedBy(kind) !== undefined);
      if (postponed || isBlocked) owed.add(kind);
      else owed.delete(kind);
    } catch (error) {
      log.error({ err: toRunError(error), kind }, 'a run failed and could not be recorded');
    } finally {
      current = undefined;
    }
  };
  const drain = async (): Promise<void> => {
    while (!signal.aborted) {
      const kind = ORDER.find((kind) => waiting.has(kind));
      if (kind === undefined) return;
      const trigger = waiting.get(kind) ?? 'schedule';
      waiting.delete(kind);
      await run(kind, trigger);
    }
  };
  /** Queues a run. Returns false if it was skipped or postponed, or if the worker is stopping. */
  const request = (kind: RunKind, trigger: Trigger): boolean => {
    if (signal.aborted) return false;
    // Only a slot is skipped: a run in progress began before a catch-up or a person's request, and may miss a change.
    if (current === kind && trigger === 'schedule') {
      log.warn({ kind, trigger }, `${kind}: skipped: the previous run is still in progress`);
      return false;
    }
    const until = retryAfter.until();
    if (until > 0) {
      if (trigger === 'manual' || !owed.has(kind))
        log.warn(
          { kind, trigger, not_before: formatTimestamp(until) },
          `${kind}: postponed to ${formatSecond(until)} (Retry-After)`,
        );
      owed.add(kind);
      return false;
    }
    if (!waiting.has(kind)) waiting.set(kind, trigger);
    // Asynchronous, so that runs that are due at the same time are all waiting before the first one starts.
    draining = draining.then(drain);
    return true;
  };
  return {
    request,
    /** Makes up for a kind in `owed` that nothing blocks; not during a run, after which it may have to wait as well. */
    resume: (): void => {
      if (current !== undefined || retryAfter.until() > 0) return;
      const kind = ORDER.find((kind) => owed.has(kind) && blockedBy(kind) === undefined);
      if (kind === undefined) return;
      owed.delete(kind);
      request(kind, 'catch-up');
    },
    /** Resolves when no run is in progress or waiting. After a stop, waiting runs do not count. */
    idle: (): Promise<void> => draining,
  };
}
