import { type Clock, formatInstant } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import type { RunReport } from '../sync/report.ts';

/** All that can keep the worker from being ready. */
export const REASONS = ['starting', 'no-good-poll', 'stale', 'credentials-refused', 'database'] as const;

/** Why the worker is not ready, in a word for programs and in a sentence for people. */
export type Reason = {
  readonly reason: (typeof REASONS)[number];
  readonly message: string;
};

export type Readiness = { readonly ready: boolean; readonly reasons: readonly Reason[] };

/** Whether the data is fresh, and what stands against it. All from memory. */
export type Health = {
  /** The database is open; this is when (ms) it was last brought up to date, as far as it knows. */
  readonly open: (lastSuccessAt: number | undefined) => void;
  readonly noteRun: (report: RunReport) => void;
  /** When (ms) the leagues were last brought up to date. */
  readonly lastSuccessAt: () => number | undefined;
  /** Why the last poll of the leagues failed, where it did. */
  readonly lastFault: () => string | undefined;
  readonly readiness: () => Readiness;
};

export type HealthOptions = {
  readonly clock: Clock;
  /** How old (ms) data of this instant may become. */
  readonly staleAfterMs: (at: number) => number;
  /** What the service refuses at present, if it does and the leagues need it. */
  readonly refusal: () => string | undefined;
};

type Success = {
  readonly at: number;
  /** The same on the monotonic clock: before this process began, as the wall clock said at its beginning. */
  readonly monotonicAt: number;
  /** Found when it is first asked for: slots of a rare schedule are far to seek. */
  staleAfterMs?: number;
};

export function createHealth({ clock, staleAfterMs, refusal }: HealthOptions): Health {
  let isOpen = false;
  let success: Success | undefined;
  let last: RunReport | undefined;

  // A clock that was set back makes nothing young.
  const ageOf = ({ at, monotonicAt }: Success): number => Math.max(clock.now() - at, clock.monotonic() - monotonicAt);
  const succeed = (at: number): void => {
    const ageMs = Math.max(0, clock.now() - at);
    success = { at, monotonicAt: clock.monotonic() - ageMs };
  };
  /** What has not been said as a reason of its own. */
  const cause = (): string => {
    const { error } = last ?? {};
    const isSaid = error === undefined || error.kind === 'credentials' || error.kind === 'database';
    return isSaid ? '' : ` The last poll failed: ${error.message}`;
  };
  const staleness = (): Reason | undefined => {
    if (success === undefined)
      return { reason: 'no-good-poll', message: `No poll of the leagues has been good yet.${cause()}` };
    const age = ageOf(success);
    success.staleAfterMs ??= staleAfterMs(success.at);
    if (age < success.staleAfterMs) return undefined;
    const limit = formatDuration(success.staleAfterMs);
    const message = `The last good poll was at ${formatInstant(success.at)}, ${formatDuration(age)} ago; from ${limit} on it is stale.${cause()}`;
    return { reason: 'stale', message };
  };
  const reasons = (): readonly Reason[] => {
    if (!isOpen) return [{ reason: 'starting', message: 'The database is not open yet.' }];
    const found: Reason[] = [];
    const refused = refusal() ?? (last?.error?.kind === 'credentials' ? last.error.message : undefined);
    if (refused !== undefined) found.push({ reason: 'credentials-refused', message: refused });
    if (last?.error?.kind === 'database') found.push({ reason: 'database', message: last.error.message });
    const stale = staleness();
    return stale === undefined ? found : [...found, stale];
  };
  return {
    open: (lastSuccessAt) => {
      isOpen = true;
      if (lastSuccessAt !== undefined) succeed(lastSuccessAt);
    },
    noteRun: (report) => {
      if (report.kind !== 'leagues' || report.outcome === 'interrupted') return;
      last = report;
      if (report.outcome !== 'failed')
        succeed(report.finishedAt === undefined ? clock.now() : Date.parse(report.finishedAt));
    },
    lastSuccessAt: () => success?.at,
    lastFault: () => (last?.outcome === 'failed' ? last.error?.message : undefined),
    readiness: () => {
      const found = reasons();
      return { ready: found.length === 0, reasons: found };
    },
  };
}
