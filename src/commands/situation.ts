import type { Situation } from '../observe/verdict.ts';
import type { Overview } from '../store/overview.ts';
import type { Presence } from '../store/presence.ts';

export type SituationOptions = {
  readonly worker: Presence;
  /** The age (ms) at which data of an instant (ms) is stale. */
  readonly staleAfterMs: (at: number) => number;
};

/** What the database knows of what the verdict of a worker rests on. */
export function situationOf(overview: Overview, { worker, staleAfterMs }: SituationOptions): Situation {
  const { freshness, last_login, last_poll } = overview;
  const errorOf = (kind: string): string | undefined =>
    last_poll?.error_kind === kind ? (last_poll.error_message ?? kind) : undefined;
  const databaseFault = errorOf('database');
  const refusal = last_login?.outcome === 'refused' ? (last_login.error_message ?? 'refused') : undefined;
  return {
    success: successOf(freshness, staleAfterMs),
    refused: refusal ?? errorOf('credentials'),
    databaseFault: databaseFault === undefined ? undefined : { message: databaseFault, condition: undefined },
    failures: freshness.consecutive_failures,
    lastError: last_poll?.error_message ?? undefined,
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
