import type { Clock } from '../clock.ts';
import { DatabaseError, type RunError } from '../errors.ts';
import type { RunReport } from '../sync/report.ts';
import { judge, type Situation, STARTING, type Verdict } from './verdict.ts';

/** Whether the data is fresh, and what stands against it. All from memory. */
export type Health = {
  /** The database is open; this is when (ms) it was last brought up to date, and how many polls failed since. */
  readonly open: (lastSuccessAt: number | undefined, failures: number) => void;
  readonly noteRun: (report: RunReport) => void;
  /** The last good poll of the leagues; undefined if there was none. */
  readonly lastSuccess: () => Success | undefined;
  /** Why the last poll of the leagues failed; undefined if it did not. */
  readonly lastError: () => string | undefined;
  /** Polls of the leagues that failed since the last good one; undefined until the database is open. */
  readonly failures: () => number | undefined;
  readonly verdict: () => Verdict;
};

/** When (ms) the leagues were last brought up to date, and how old (ms) that makes the data. */
export type Success = { readonly at: number; readonly ageMs: number };

export type HealthOptions = {
  readonly clock: Clock;
  /** How old (ms) data of this instant may become. */
  readonly staleAfterMs: (at: number) => number;
  /** Why nothing can be written to the database at present, as far as a look at it tells. */
  readonly databaseFault: () => DatabaseError | undefined;
  /** What the service refuses at present, if it does and the leagues need it. */
  readonly refusal: () => Situation['refused'];
  /** How many removals are held, and rejections open. */
  readonly issues: () => Pick<Situation, 'held' | 'rejected'>;
};

type Mark = {
  readonly at: number;
  /** The same on the monotonic clock: before this process began, as the wall clock said at its beginning. */
  readonly monotonicAt: number;
  /** Found when it is first asked for: slots of a rare schedule are far to seek. */
  staleAfterMs?: number;
};

export function createHealth({ clock, staleAfterMs, databaseFault, refusal, issues }: HealthOptions): Health {
  let failures: number | undefined;
  let success: Mark | undefined;
  let lastError: RunError | undefined;

  // A clock that was set back makes nothing young.
  const ageOf = ({ at, monotonicAt }: Mark): number => Math.max(clock.now() - at, clock.monotonic() - monotonicAt);
  const succeed = (at: number): void => {
    const ageMs = Math.max(0, clock.now() - at);
    success = { at, monotonicAt: clock.monotonic() - ageMs };
  };
  const lastSuccess = (): Situation['success'] => {
    if (success === undefined) return undefined;
    success.staleAfterMs ??= staleAfterMs(success.at);
    return { at: success.at, ageMs: ageOf(success), staleAfterMs: success.staleAfterMs };
  };
  /** What only the next poll can tell to be over. Whether the files are gone or locked is seen at any time. */
  const standingFault = (): DatabaseError | undefined =>
    lastError instanceof DatabaseError && !lastError.busy && !lastError.gone ? lastError : undefined;
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
    lastSuccess: () => success && { at: success.at, ageMs: ageOf(success) },
    lastError: () => lastError?.message,
    failures: () => failures,
    verdict: () => {
      if (failures === undefined) return STARTING;
      return judge({
        success: lastSuccess(),
        refused: refusal() ?? refusedBy(lastError),
        databaseFault: databaseFault() ?? standingFault(),
        failures,
        lastError,
        ...issues(),
      });
    },
  };
}

/** What no answer of the service speaks of is a file of secrets that cannot be read. */
function refusedBy(error: RunError | undefined): Situation['refused'] {
  if (error?.kind !== 'credentials') return undefined;
  return { message: error.message, byService: error.httpStatus !== undefined };
}
