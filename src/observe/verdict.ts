import { formatInstant } from '../clock.ts';
import type { StaleSettings } from '../config/config.ts';
import { formatAge, formatDuration } from '../duration.ts';
import type { DatabaseError, RunError } from '../errors.ts';

/** All that can keep the worker from being ready, as `/readyz` names it. */
export const REASONS = ['starting', 'no-good-poll', 'stale', 'credentials-refused', 'database'] as const;

/** Why the worker is not ready, in a word for programs and in a sentence for people. */
export type Reason = {
  readonly reason: (typeof REASONS)[number];
  readonly message: string;
};

/** The slot after which data is stale, counted from the poll that brought it. */
const MISSED_SLOTS = 3;

/** The age (ms) at which data of the instant `at` is stale. */
export function staleAge({ schedule, runTimeoutMs, staleAfterMs }: StaleSettings, at: number): number {
  return staleAfterMs ?? schedule.slotAfter(at, MISSED_SLOTS) - at + runTimeoutMs;
}

/** What is known of the data: by the worker from memory, by `status` from the database. Instants and ages in ms. */
export type Situation = {
  /** The last good poll of the leagues, and the age at which its data is stale; undefined if there was none. */
  readonly success: { readonly at: number; readonly ageMs: number; readonly staleAfterMs: number } | undefined;
  /** Why the credentials do not work: the service refuses them, or their files cannot be read; undefined if they do. */
  readonly refused: { readonly message: string; readonly byService: boolean } | undefined;
  /** Why the database cannot be used; undefined if it can. */
  readonly databaseFault: Pick<DatabaseError, 'message' | 'condition'> | undefined;
  /** Polls of the leagues that failed since the last good one, and why the last of them did. */
  readonly failures: number;
  readonly lastError: Pick<RunError, 'kind' | 'message'> | undefined;
  /** Removals that the guard holds, and open rejections. */
  readonly held: number;
  readonly rejected: number;
  /** Nothing runs that could poll: a first poll is not waited for, it has to be started. */
  readonly isIdle?: boolean;
};

/** The verdict on the data that the page, `status`, `/readyz`, `/status.json` and the metrics share. */
export type Verdict = {
  /** `good`: up to date. `warning`: up to date, with something to look at. `loading`: the first poll is not over. */
  readonly state: 'good' | 'warning' | 'loading' | 'bad';
  /** One sentence without a full stop, such as `Up to date, but 44 removals are held`. */
  readonly headline: string;
  /** Whether the data may be relied on: what `/readyz` answers. */
  readonly ready: boolean;
  /** Why it may not; empty if it may. */
  readonly reasons: readonly Reason[];
};

/** Judges the situation. Pure. */
export function judge(situation: Situation): Verdict {
  const reasons = reasonsOf(situation);
  const ready = reasons.length === 0;
  if (ready) {
    const warnings = warningsOf(situation);
    if (warnings.length === 0) return { state: 'good', headline: 'Up to date', ready, reasons };
    return { state: 'warning', headline: `Up to date, but ${list(warnings)}`, ready, reasons };
  }
  const state = reasons[0]?.reason === 'no-good-poll' && isLoading(situation) ? 'loading' : 'bad';
  return { state, headline: headlineOf(reasons[0], situation), ready, reasons };
}

function isLoading({ failures, isIdle = false }: Situation): boolean {
  return failures === 0 && !isIdle;
}

/** The verdict until the database is open. */
export const STARTING: Verdict = {
  state: 'loading',
  headline: 'Starting',
  ready: false,
  reasons: [{ reason: 'starting', message: 'The database is not open yet.' }],
};

/** The gravest first: it makes the headline. */
function reasonsOf(situation: Situation): readonly Reason[] {
  const { refused, databaseFault } = situation;
  const found: Reason[] = [];
  if (databaseFault !== undefined) found.push({ reason: 'database', message: databaseFault.message });
  if (refused !== undefined) found.push({ reason: 'credentials-refused', message: refused.message });
  const stale = stalenessOf(situation);
  return stale === undefined ? found : [...found, stale];
}

function stalenessOf(situation: Situation): Reason | undefined {
  const { success, lastError } = situation;
  // A failure that is a reason of its own is not told twice.
  const isSaid =
    (lastError?.kind === 'credentials' && situation.refused !== undefined) ||
    (lastError?.kind === 'database' && situation.databaseFault !== undefined);
  const cause = lastError === undefined || isSaid ? '' : ` The last poll failed: ${lastError.message}`;
  if (success === undefined)
    return { reason: 'no-good-poll', message: `No poll of the leagues has succeeded yet.${cause}` };
  const { at, ageMs, staleAfterMs } = success;
  if (ageMs < staleAfterMs) return undefined;
  const limit = formatDuration(staleAfterMs);
  const message = `The last good poll was at ${formatInstant(at)}, ${formatAge(ageMs)}; data counts as stale after ${limit}.${cause}`;
  return { reason: 'stale', message };
}

function headlineOf(gravest: Reason | undefined, situation: Situation): string {
  switch (gravest?.reason) {
    case 'database':
      return `The database ${situation.databaseFault?.condition ?? 'cannot be used'}`;
    case 'credentials-refused':
      return situation.refused?.byService === false
        ? 'The credentials cannot be read'
        : 'The service refuses the credentials';
    case 'stale':
      return `Stale: the last good poll was ${formatAge(situation.success?.ageMs ?? 0)}`;
    default:
      return isLoading(situation) ? 'Loading the leagues for the first time' : 'No poll has succeeded yet';
  }
}

/** `a`, `a and b`, `a, b and c`. */
function list(parts: readonly string[]): string {
  return [parts.slice(0, -1).join(', '), ...parts.slice(-1)].filter((part) => part !== '').join(' and ');
}

/** What does not keep the data from being fresh, yet. */
function warningsOf({ failures, held, rejected }: Situation): readonly string[] {
  return [
    ...(failures > 0 ? [failures === 1 ? 'the last poll failed' : `the last ${failures} polls failed`] : []),
    ...(held > 0 ? [held === 1 ? '1 removal is held' : `${held} removals are held`] : []),
    ...(rejected > 0 ? [rejected === 1 ? '1 element is rejected' : `${rejected} elements are rejected`] : []),
  ];
}
