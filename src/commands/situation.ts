import type { ErrorKind } from '../errors.ts';
import type { Situation } from '../observe/verdict.ts';
import type { LockStatus } from '../store/lock.ts';
import type { Overview } from '../store/queries/overview.ts';

export type SituationOptions = {
  readonly worker: LockStatus;
  /** The age (ms) at which data of an instant (ms) is stale. */
  readonly staleAfterMs: (at: number) => number;
};

/** What the database knows of what the verdict of a worker rests on. */
export function situationOf(overview: Overview, { worker, staleAfterMs }: SituationOptions): Situation {
  const { freshness, last_answered_login, last_poll } = overview;
  const lastError = errorOf(last_poll);
  return {
    success: successOf(freshness, staleAfterMs),
    refused: refusedBy(last_answered_login) ?? refusedByPoll(last_poll),
    // A row that tells of one was written once it was over.
    databaseFault: undefined,
    failures: freshness.consecutive_failures,
    lastError,
    held: freshness.held_removals,
    rejected: freshness.open_rejections,
    isIdle: worker.state === 'none',
  };
}

/** The age is the database's own reckoning, which is right even if the clock was set back. */
function successOf(
  { last_success_at, age_seconds }: Overview['freshness'],
  staleAfterMs: SituationOptions['staleAfterMs'],
): Situation['success'] {
  if (last_success_at === null) return undefined;
  const at = Date.parse(last_success_at);
  return { at, ageMs: (age_seconds ?? 0) * 1_000, staleAfterMs: staleAfterMs(at) };
}

function errorOf(poll: Overview['last_poll']): Situation['lastError'] {
  if (poll === undefined || poll.error_kind === null) return undefined;
  return { kind: poll.error_kind as ErrorKind, message: poll.error_message ?? poll.error_kind };
}

function refusedBy(login: Overview['last_answered_login']): Situation['refused'] {
  if (login?.outcome !== 'refused') return undefined;
  return { message: login.error_message ?? login.outcome, byService: true };
}

/** Without an answer of the service it was a file of secrets that could not be read. */
function refusedByPoll(poll: Overview['last_poll']): Situation['refused'] {
  if (poll?.error_kind !== 'credentials') return undefined;
  return { message: poll.error_message ?? poll.error_kind, byService: poll.http_status !== null };
}
