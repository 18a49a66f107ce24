import type { LeagueList } from '../service/parse-leagues.ts';
import type { HoldReason } from '../store/tables/held-removals.ts';

export type RemovalRules = {
  /** Removals are held if they exceed this share (0 to 1) of the live leagues in scope. */
  readonly limit: number;
  /** The leagues whose held removal an operator has accepted. */
  readonly accepted: ReadonlySet<string>;
  /** Reads the leagues that were added, were restored or came into scope since removals began to be held. */
  readonly joined: () => ReadonlySet<string>;
};

export type Removals = { readonly removed: readonly string[]; readonly held: readonly string[] };

/** The limit does not apply to this many removals or fewer, since a share means little in a short list. */
const ALWAYS_ALLOWED = 5;
/** 0.29 * 100 is 28.999999999999996, yet 29 of 100 must not count as more than 29 %. */
const ROUNDING = 1e-6;

/** `live` has the ids of the live leagues in scope. A league whose element was rejected is not missing. */
export function decideRemovals(
  live: Iterable<string>,
  list: LeagueList,
  { limit, accepted, joined }: RemovalRules,
): Removals {
  const rejectedIds = new Set(list.rejections.map((rejection) => rejection.leagueId));
  /** The number of these leagues is the denominator of the share of removals. */
  const counted: string[] = [];
  const missing: string[] = [];
  for (const leagueId of live) {
    const isMissing = !list.leagues.has(leagueId) && !rejectedIds.has(leagueId);
    if (isMissing) missing.push(leagueId);
    // Accepted removals are applied regardless of the share, so they do not enlarge its denominator.
    if (!isMissing || !accepted.has(leagueId)) counted.push(leagueId);
  }
  const waiting = missing.filter((leagueId) => !accepted.has(leagueId));
  const isTooMuch = (of: number): boolean => waiting.length > limit * of + ROUNDING;
  // Leagues that joined during the hold must not lower the share: a later poll could then apply the held removals.
  const withoutJoined = (): number => {
    const since = joined();
    return counted.filter((leagueId) => !since.has(leagueId)).length;
  };
  const tooMany = waiting.length > ALWAYS_ALLOWED && (isTooMuch(counted.length) || isTooMuch(withoutJoined()));
  // An element without a readable id could be any of the missing leagues, but an operator has judged the accepted ones.
  const isIncomplete = list.received === 0 || rejectedIds.has(null);
  if (waiting.length > 0 && (isIncomplete || tooMany)) {
    return { removed: missing.filter((leagueId) => accepted.has(leagueId)), held: waiting };
  }
  return { removed: missing, held: [] };
}

export function findHoldReason(list: LeagueList): HoldReason {
  if (list.received === 0) return 'empty-list';
  return list.rejections.some(({ leagueId }) => leagueId === null) ? 'unreadable-elements' : 'limit';
}

export function explainHold(reason: HoldReason, limit: number): string {
  if (reason === 'empty-list') return 'the list is empty';
  if (reason === 'unreadable-elements')
    return 'elements without a readable league_id could be any of the missing leagues';
  const share = Number((limit * 100).toFixed(6));
  return `more than ${ALWAYS_ALLOWED} leagues, and more than ${share}% of the live ones, would be removed at once`;
}
