import { formatInstant } from '../clock.ts';
import { type RunError, toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Pause } from '../service/pause.ts';
import type { RunKind, Trigger } from '../store/runs.ts';
import type { RunReport } from '../sync/report.ts';

/** Makes runs one after the other: never two at once, leagues before the profile. */
export type Poller = {
  /** Asks for a run. One of a kind that is going on already is skipped, and said. */
  readonly request: (kind: RunKind, trigger: Trigger) => void;
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
  readonly pause: Pause;
  /** What speaks against a run of this kind since the service refused the credentials. */
  readonly objection: (kind: RunKind) => RunError | undefined;
  /** Called when a run begins; must return at once. */
  readonly onBegin?: (kind: RunKind) => void;
  /** Called with the report of each run. */
  readonly onReport?: (report: RunReport) => void;
  readonly log: Log;
  readonly signal: AbortSignal;
};

const ORDER: readonly RunKind[] = ['leagues', 'profile'];

export function createPoller({ poll, pause, objection, onBegin, onReport, log, signal }: PollerOptions): Poller {
  const waiting = new Map<RunKind, Trigger>();
  const putOff = new Set<RunKind>();
  const refused = new Set<RunKind>();
  let running: RunKind | undefined;
  let draining: Promise<void> = Promise.resolve();

  const runOne = async (kind: RunKind, trigger: Trigger): Promise<void> => {
    running = kind;
    try {
      onBegin?.(kind);
      const report = await poll[kind](trigger);
      if (report.putOff) putOff.add(kind);
      if (report.error?.kind === 'credentials') refused.add(kind);
      else refused.delete(kind);
      onReport?.(report);
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
  const request = (kind: RunKind, trigger: Trigger): void => {
    if (signal.aborted) return;
    // What is to be made up was missed, whatever goes on now: a run may have begun before the machine was suspended.
    if (running === kind && trigger !== 'catch-up') {
      log.warn({ kind, trigger }, `${kind}: skipped: the run before is still going on`);
      return;
    }
    if (pause.until() > 0) {
      const until = formatInstant(pause.until());
      if (!putOff.has(kind))
        log.warn({ kind, not_before: until }, `${kind}: put off to ${until}: the service asked for a pause`);
      putOff.add(kind);
      return;
    }
    if (!waiting.has(kind)) waiting.set(kind, trigger);
    // Begun in a later turn, so that kinds that fall due together are all known and keep their order.
    draining = draining.then(drain);
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
