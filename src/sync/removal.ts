import type { LeagueList } from '../service/leagues.ts';
import type { StoredLeague } from '../store/tables/leagues.ts';
import type { RunScope } from '../store/tables/runs.ts';

export type RemovalRules = {
  readonly scope: RunScope;
  /** Share of the live rows in scope, 0 to 1, above which removals are held. */
  readonly limit: number;
  /** Held removals that an operator let pass. */
  readonly accepted: ReadonlySet<string>;
  /** Leagues that came into scope since the guard began to hold. Asked for only where they could matter. */
  readonly joined: () => ReadonlySet<string>;
};

export type Removals = { readonly removed: readonly string[]; readonly held: readonly string[] };

/** A few leagues may always go: a share of a short list says nothing. */
const ALWAYS_ALLOWED = 5;
/** 29 % of 100 is 28.999999999999996 in a double, and 29 is not more than 29 %. */
const ROUNDING = 1e-6;

/** Why removals are held, in words; undefined where none are. */
export function explainHold({ held }: Removals, list: LeagueList, limit: number): string | undefined {
  if (held.length === 0) return undefined;
  const hasUnreadable = list.rejections.some(({ leagueId }) => leagueId === null);
  if (hasUnreadable) return 'elements without a readable league_id could be any of the missing leagues';
  if (list.received === 0) return 'the list is empty';
  return `more than ${ALWAYS_ALLOWED}, and more than ${formatShare(limit)} of those listed, would go at once`;
}

function formatShare(share: number): string {
  return `${Number((share * 100).toFixed(6))}%`;
}

/**
 * Decides which stored leagues have left the list, and which of these removals the guard holds (contract, 5.4). Pure.
 * A filtered list speaks only for rows whose last known status is the filter's; a rejected element whose id can be
 * read is no missing league.
 */
export function decideRemovals(
  stored: ReadonlyMap<string, StoredLeague>,
  list: LeagueList,
  { scope, limit, accepted, joined }: RemovalRules,
): Removals {
  const rejectedIds = new Set(list.rejections.map((rejection) => rejection.leagueId));
  const live: string[] = [];
  const missing: string[] = [];
  for (const [leagueId, row] of stored) {
    if (row.removed || (scope !== 'all' && row.status !== scope)) continue;
    const isMissing = !list.leagues.has(leagueId) && !rejectedIds.has(leagueId);
    if (isMissing) missing.push(leagueId);
    // An accepted removal counts towards nothing; its acceptance ends where the league is listed again.
    if (!isMissing || !accepted.has(leagueId)) live.push(leagueId);
  }
  // With an unreadable element among them, the list may hold any league that seems to be missing.
  if (rejectedIds.has(null)) return { removed: [], held: missing };

  const waiting = missing.filter((leagueId) => !accepted.has(leagueId));
  const isTooMuch = (of: number): boolean => waiting.length > limit * of + ROUNDING;
  // What joined meanwhile makes no share smaller, or the same answer once more would let go of what is held.
  const withoutJoined = (): number => {
    const since = joined();
    return live.filter((leagueId) => !since.has(leagueId)).length;
  };
  const tooMany = waiting.length > ALWAYS_ALLOWED && (isTooMuch(live.length) || isTooMuch(withoutJoined()));
  if (waiting.length > 0 && (list.received === 0 || tooMany)) {
    return { removed: missing.filter((leagueId) => accepted.has(leagueId)), held: waiting };
  }
  return { removed: missing, held: [] };
}
