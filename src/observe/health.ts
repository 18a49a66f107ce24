import type { Clock } from '../clock.ts';
import type { RunError } from '../errors.ts';
import type { RunReport } from '../sync/report.ts';
import { judge, type Situation, STARTING, type Verdict } from './verdict.ts';

/** Whether the data is fresh, and what stands against it. All from memory. */
export type Health = {
  /** The database is open; this is when (ms) it was last brought up to date, and how many polls failed since. */
  readonly open: (lastSuccessAt: number | undefined, failures: number) => void;
  readonly noteRun: (report: RunReport) => void;
  /** The database files were deleted or replaced, or cannot be looked at; undefined once they are in place again. */
  readonly noteDatabase: (fault: string | undefined) => void;
  /** When (ms) the leagues were last brought up to date. */
  readonly lastSuccessAt: () => number | undefined;
  /** Why the last poll of the leagues failed; undefined if it did not. */
  readonly lastError: () => string | undefined;
  /** Polls of the leagues that failed since the last good one; undefined until the database is open. */
  readonly failures: () => number | undefined;
  readonly verdict: () => Verdict;
};

export type HealthOptions = {
  readonly clock: Clock;
  /** How old (ms) data of this instant may become. */
  readonly staleAfterMs: (at: number) => number;
  /** What the service refuses at present, if it does and the leagues need it. */
  readonly refusal: () => string | undefined;
  /** How many removals are held, and rejections open. */
  readonly issues: () => Pick<Situation, 'held' | 'rejected'>;
};

type Success = {
  readonly at: number;
  /** The same on the monotonic clock: before this process began, as the wall clock said at its beginning. */
  readonly monotonicAt: number;
  /** Found when it is first asked for: slots of a rare schedule are far to seek. */
  staleAfterMs?: number;
};

export function createHealth({ clock, staleAfterMs, refusal, issues }: HealthOptions): Health {
  let failures: number | undefined;
  let success: Success | undefined;
  let lastError: RunError | undefined;
  let databaseFault: string | undefined;

  // A clock that was set back makes nothing young.
  const ageOf = ({ at, monotonicAt }: Success): number => Math.max(clock.now() - at, clock.monotonic() - monotonicAt);
  const succeed = (at: number): void => {
    const ageMs = Math.max(0, clock.now() - at);
    success = { at, monotonicAt: clock.monotonic() - ageMs };
  };
  const lastSuccess = (): Situation['success'] => {
    if (success === undefined) return undefined;
    success.staleAfterMs ??= staleAfterMs(success.at);
    return { at: success.at, ageMs: ageOf(success), staleAfterMs: success.staleAfterMs };
  };
  const errorOf = (kind: RunError['kind']): string | undefined =>
    lastError?.kind === kind ? lastError.message : undefined;
  return {
    open: (lastSuccessAt, failed) => {
      failures = failed;
      if (lastSuccessAt !== undefined) succeed(lastSuccessAt);
    },
    noteRun: ({ kind, outcome, error, finishedAt }) => {
      if (kind !== 'leagues' || outcome === 'interrupted') return;
      lastError = error;
      failures = outcome === 'failed' ? (failures ?? 0) + 1 : 0;
      if (outcome !== 'failed') succeed(finishedAt === undefined ? clock.now() : Date.parse(finishedAt));
    },
    noteDatabase: (fault) => {
      databaseFault = fault;
    },
    lastSuccessAt: () => success?.at,
    lastError: () => lastError?.message,
    failures: () => failures,
    verdict: () => {
      if (failures === undefined) return STARTING;
      return judge({
        success: lastSuccess(),
        refused: refusal() ?? errorOf('credentials'),
        databaseFault: databaseFault ?? errorOf('database'),
        failures,
        lastError: lastError?.message,
        ...issues(),
      });
    },
  };
}
