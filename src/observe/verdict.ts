import type { StaleSettings } from '../config/config.ts';
import type { DatabaseError, RunError } from '../errors.ts';
import { formatTimestamp } from '../time/clock.ts';
import { formatAge, formatDuration } from '../time/duration.ts';

/** The reasons that `/readyz` gives if the worker is not ready. */
export const REASONS = ['starting', 'no-good-poll', 'stale', 'credentials-refused', 'database'] as const;

export type Reason = { readonly reason: (typeof REASONS)[number]; readonly message: string };

/** By default, data becomes stale one run timeout after this many polls have come due since the last good one. */
const MISSED_POLLS = 3;

/** The age (ms) at which data becomes stale if its poll ended at the timestamp `at` (ms). */
export function staleAge({ schedule, runTimeoutMs, staleAfterMs }: StaleSettings, at: number): number {
  return staleAfterMs ?? schedule.nthTimeAfter(at, MISSED_POLLS) - at + runTimeoutMs;
}

/** The values come from the worker's monitor or, in the command `status`, from the database. Times are in ms. */
export type HealthInput = {
  /** The last good poll of the leagues. */
  readonly success: { readonly at: number; readonly ageMs: number; readonly staleAfterMs: number } | undefined;
  /** Set if the service refuses the credentials (`byService`), or if the files with the credentials cannot be read. */
  readonly refused: { readonly message: string; readonly byService: boolean } | undefined;
  readonly databaseFault: Pick<DatabaseError, 'message' | 'condition'> | undefined;
  /** How many polls of the leagues have failed since the last good one. */
  readonly failures: number;
  readonly lastError: Pick<RunError, 'kind' | 'message'> | undefined;
  readonly held: number;
  readonly rejected: number;
  /** True if no worker is running. The state before the first poll is then `bad`, not `loading`. */
  readonly isIdle?: boolean;
};

/** Shared by the page, `status`, `/readyz`, `/status.json` and the metrics. */
export type Verdict = {
  /** `good`: up to date. `warning`: up to date, with issues. `loading`: no poll has ended yet. `bad`: anything else. */
  readonly state: 'good' | 'warning' | 'loading' | 'bad';
  /** A sentence without a full stop, such as `Up to date, but 44 removals are held`. */
  readonly headline: string;
  readonly ready: boolean;
  /** Empty if ready. */
  readonly reasons: readonly Reason[];
};

export function assess(input: HealthInput): Verdict {
  const problems = findProblems(input);
  const [worst] = problems;
  if (worst === undefined) {
    const warnings = findWarnings(input);
    if (warnings.length === 0) return { state: 'good', headline: 'Up to date', ready: true, reasons: [] };
    return { state: 'warning', headline: `Up to date, but ${LIST.format(warnings)}`, ready: true, reasons: [] };
  }
  const reasons = problems.map(({ reason, message }) => ({ reason, message }));
  const state = worst.reason === 'no-good-poll' && isLoading(input) ? 'loading' : 'bad';
  return { state, headline: worst.headline, ready: false, reasons };
}

function isLoading({ failures, isIdle = false }: HealthInput): boolean {
  return failures === 0 && !isIdle;
}

export const STARTING: Verdict = {
  state: 'loading',
  headline: 'Starting',
  ready: false,
  reasons: [{ reason: 'starting', message: 'The database is not open yet.' }],
};

type Problem = Reason & { readonly headline: string };

/** The problems that keep the worker from being ready, the worst first. */
function findProblems(input: HealthInput): readonly Problem[] {
  const { refused, databaseFault } = input;
  const problems: Problem[] = [];
  if (databaseFault !== undefined) {
    const headline = `The database ${databaseFault.condition ?? 'cannot be used'}`;
    problems.push({ reason: 'database', message: databaseFault.message, headline });
  }
  if (refused !== undefined) {
    const headline = refused.byService ? 'The service refuses the credentials' : 'The credentials cannot be read';
    problems.push({ reason: 'credentials-refused', message: refused.message, headline });
  }
  const staleness = findStaleness(input);
  return staleness === undefined ? problems : [...problems, staleness];
}

function findStaleness(input: HealthInput): Problem | undefined {
  const { success, lastError } = input;
  // Whether another reason already contains the message of `lastError`.
  const isSaid =
    (lastError?.kind === 'credentials' && input.refused !== undefined) ||
    (lastError?.kind === 'database' && input.databaseFault !== undefined);
  const cause = lastError === undefined || isSaid ? '' : ` The last poll failed: ${lastError.message}`;
  if (success === undefined) {
    const headline = isLoading(input) ? 'Loading the leagues for the first time' : 'No poll has succeeded yet';
    return { reason: 'no-good-poll', message: `No poll of the leagues has succeeded yet.${cause}`, headline };
  }
  const { at, ageMs, staleAfterMs } = success;
  if (ageMs < staleAfterMs) return undefined;
  const [age, limit] = [formatAge(ageMs), formatDuration(staleAfterMs)];
  const message = `The last good poll was at ${formatTimestamp(at)}, ${age}; data counts as stale after ${limit}.${cause}`;
  return { reason: 'stale', message, headline: `Stale: the last good poll was ${age}` };
}

const LIST = new Intl.ListFormat('en-GB');

function findWarnings({ failures, held, rejected }: HealthInput): readonly string[] {
  return [
    ...(failures > 0 ? [failures === 1 ? 'the last poll failed' : `the last ${failures} polls failed`] : []),
    ...(held > 0 ? [held === 1 ? '1 removal is held' : `${held} removals are held`] : []),
    ...(rejected > 0
      ? [rejected === 1 ? '1 list element cannot be stored' : `${rejected} list elements cannot be stored`]
      : []),
  ];
}
