import { formatInstant, formatSecond } from '../clock.ts';
import { type RunError, toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { RetryAfter } from '../service/retry-after.ts';
import type { RunKind, Trigger } from '../store/tables/runs.ts';
import type { RunReport } from '../sync/report.ts';

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

/** Makes runs one after the other: never two at once, leagues before the profile. */
export class Poller {
  private readonly options: PollerOptions;
  private readonly waiting = new Map<RunKind, Trigger>();
  /** Kinds whose run was put off by a Retry-After, to be made up for. */
  private readonly putOff = new Set<RunKind>();
  /** Kinds whose last run failed for the credentials. */
  private readonly refused = new Set<RunKind>();
  private current: RunKind | undefined;
  private draining: Promise<void> = Promise.resolve();

  constructor(options: PollerOptions) {
    this.options = options;
  }

  /** Asks for a run, and says whether one follows; if not, the log says why. */
  request(kind: RunKind, trigger: Trigger): boolean {
    if (this.options.signal.aborted) return false;
    // Never skip a catch-up: the run in progress may have started before the machine was suspended.
    if (this.current === kind && trigger !== 'catch-up') {
      this.logSkipped(kind, trigger);
      return false;
    }
    const pausedUntil = this.options.pause.until();
    if (pausedUntil > 0) {
      this.postpone(kind, trigger, pausedUntil);
      return false;
    }
    if (!this.waiting.has(kind)) this.waiting.set(kind, trigger);
    // Begun in a later turn, so that kinds that fall due together are all known and keep their order.
    this.draining = this.draining.then(() => this.drain());
    return true;
  }

  /**
   * Makes up for what a Retry-After put off, once it is over, and for what failed for the credentials, once nothing
   * speaks against trying them again.
   */
  resume(): void {
    const { pause, objection } = this.options;
    if (pause.until() > 0) return;
    const mayTryAgain = (kind: RunKind): boolean => this.refused.has(kind) && objection(kind) === undefined;
    const kinds = ORDER.filter((kind) => this.putOff.has(kind) || mayTryAgain(kind));
    for (const kind of kinds) {
      this.putOff.delete(kind);
      this.refused.delete(kind);
      this.request(kind, 'catch-up');
    }
  }

  running(): RunKind | undefined {
    return this.current;
  }

  /** Settles when no run is going on or waiting. */
  idle(): Promise<void> {
    return this.draining;
  }

  private async drain(): Promise<void> {
    for (let next = this.next(); next !== undefined && !this.options.signal.aborted; next = this.next()) {
      const trigger = this.waiting.get(next) ?? 'schedule';
      this.waiting.delete(next);
      await this.run(next, trigger);
    }
  }

  private next(): RunKind | undefined {
    return ORDER.find((kind) => this.waiting.has(kind));
  }

  private async run(kind: RunKind, trigger: Trigger): Promise<void> {
    this.current = kind;
    try {
      const report = await this.options.poll[kind](trigger);
      if (report.putOff) this.putOff.add(kind);
      if (report.error?.kind === 'credentials') this.refused.add(kind);
      else this.refused.delete(kind);
    } catch (error) {
      this.options.log.error({ err: toRunError(error), kind }, 'a run failed in a way that it could not record');
    } finally {
      this.current = undefined;
    }
  }

  private logSkipped(kind: RunKind, trigger: Trigger): void {
    const isFirstLoad = kind === 'leagues' && this.options.isFirstLoad?.() === true;
    const what = isFirstLoad ? 'the first poll' : 'the run before';
    this.options.log[isFirstLoad ? 'info' : 'warn']({ kind, trigger }, `${kind}: skipped: ${what} is still going on`);
  }

  private postpone(kind: RunKind, trigger: Trigger, until: number): void {
    // Said once, and to each that asks for it.
    if (trigger === 'manual' || !this.putOff.has(kind))
      this.options.log.warn(
        { kind, trigger, not_before: formatInstant(until) },
        `${kind}: postponed to ${formatSecond(until)} (Retry-After)`,
      );
    this.putOff.add(kind);
  }
}
