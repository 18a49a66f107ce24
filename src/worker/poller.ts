import { formatInstant, formatSecond } from '../clock.ts';
import { type RunError, toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { RetryAfter } from '../service/retry-after.ts';
import type { RunKind, Trigger } from '../store/tables/runs.ts';
import type { RunReport } from '../sync/report.ts';

/** Makes runs one after the other: never two at once, leagues before the profile. */
export type Poller = {
  /** Asks for a run, and says whether one follows; if not, the log says why. */
  readonly request: (kind: RunKind, trigger: Trigger) => boolean;
  /**
   * Makes up what was put off by a pause that the service asked for, once it is over, and what failed for the
   * credentials, once nothing speaks against trying them again.
   */
  readonly resume: () => void;
  readonly running: () => RunKind | undefined;
  /** Settles when no run is going on or waiting. */
  readonly idle: () => Promise<void>;
};

export type PollerOptions = {
  readonly poll: Readonly<Record<RunKind, (trigger: Trigger) => Promise<RunReport>>>;
  readonly pause: RetryAfter;
  /** What speaks against a run of this kind since the service refused the credentials. */
  readonly objection: (kind: RunKind) => RunError | undefined;
  /** Whether the leagues are loaded for the first time: that may take long, and is nothing to warn of. */
  readonly isFirstLoad?: () => boolean;
  readonly log: Log;
  readonly signal: AbortSignal;
};

const ORDER: readonly RunKind[] = ['leagues', 'profile'];

export function createPoller(options: PollerOptions): Poller {
  const { poll, pause, objection, log, signal } = options;
  const waiting = new Map<RunKind, Trigger>();
  const putOff = new Set<RunKind>();
  const refused = new Set<RunKind>();
  let running: RunKind | undefined;
  let draining: Promise<void> = Promise.resolve();

  const runOne = async (kind: RunKind, trigger: Trigger): Promise<void> => {
    running = kind;
    try {
      const report = await poll[kind](trigger);
      if (report.putOff) putOff.add(kind);
      if (report.error?.kind === 'credentials') refused.add(kind);
      else refused.delete(kind);
    } catch (error) {
      log.error({ err: toRunError(error), kind }, 'a run failed in a way that it could not record');
    } finally {
      running = undefined;
    }
  };
  const drain = async (): Promise<void> => {
    for (let kind = firstOf(waiting); kind !== undefined && !signal.aborted; kind = firstOf(waiting)) {
      const trigger = waiting.get(kind) ?? 'schedule';
      waiting.delete(kind);
      await runOne(kind, trigger);
    }
  };
  const skip = (kind: RunKind, trigger: Trigger): void => {
    const isFirstLoad = kind === 'leagues' && options.isFirstLoad?.() === true;
    const what = isFirstLoad ? 'the first poll' : 'the run before';
    log[isFirstLoad ? 'info' : 'warn']({ kind, trigger }, `${kind}: skipped: ${what} is still going on`);
  };
  const postpone = (kind: RunKind, trigger: Trigger, until: number): void => {
    const line = { kind, trigger, not_before: formatInstant(until) };
    // Said once, and to each that asks for it.
    if (trigger === 'manual' || !putOff.has(kind))
      log.warn(line, `${kind}: postponed to ${formatSecond(until)} (Retry-After)`);
    putOff.add(kind);
  };
  const request = (kind: RunKind, trigger: Trigger): boolean => {
    if (signal.aborted) return false;
    // What is to be made up was missed, whatever goes on now: a run may have begun before the machine was suspended.
    if (running === kind && trigger !== 'catch-up') {
      skip(kind, trigger);
      return false;
    }
    const pausedUntil = pause.until();
    if (pausedUntil > 0) {
      postpone(kind, trigger, pausedUntil);
      return false;
    }
    if (!waiting.has(kind)) waiting.set(kind, trigger);
    // Begun in a later turn, so that kinds that fall due together are all known and keep their order.
    draining = draining.then(drain);
    return true;
  };

  return {
    request,
    resume: () => {
      if (pause.until() > 0) return;
      const mayTryAgain = (kind: RunKind): boolean => refused.has(kind) && objection(kind) === undefined;
      const kinds = ORDER.filter((kind) => putOff.has(kind) || mayTryAgain(kind));
      for (const kind of kinds) {
        putOff.delete(kind);
        refused.delete(kind);
        request(kind, 'catch-up');
      }
    },
    running: () => running,
    idle: () => draining,
  };
}

function firstOf(waiting: ReadonlyMap<RunKind, Trigger>): RunKind | undefined {
  return ORDER.find((kind) => waiting.has(kind));
}
