import type { LeagueList, Rejection } from '../service/leagues.ts';
import type { Hold, HoldRows } from '../store/tables/held-removals.ts';
import type { LeagueRows } from '../store/tables/leagues.ts';
import type { RunScope } from '../store/tables/runs.ts';
import { type ChangeSet, reconcile } from './reconcile.ts';
import { decideRemovals, explainHold, type Removals } from './removal.ts';
import type { RunCounts } from './report.ts';

/** What is stored, as far as a plan needs it: a poll reads it in its transaction, a dry run from a read-only file. */
export type Snapshot = {
  readonly leagues: Pick<LeagueRows, 'index' | 'load' | 'joinedSince'>;
  readonly holds: Pick<HoldRows, 'all'>;
};

export type PlanRules = {
  readonly scope: RunScope;
  /** Share of the listed leagues, 0 to 1, above which removals are held. */
  readonly removalLimit: number;
};

/** Everything that a poll of the leagues would write. */
export type Plan = {
  readonly outcome: 'changed' | 'unchanged' | 'held';
  readonly counts: RunCounts;
  readonly changes: ChangeSet;
  readonly removals: Removals;
  /** Why removals are held, in words; undefined if none are. */
  readonly heldBecause: string | undefined;
  readonly holds: HoldChanges;
  readonly rejections: readonly Rejection[];
};

/** Which removals begin to be held, and which no longer are. */
export type HoldChanges = {
  readonly begun: readonly string[];
  readonly ended: readonly string[];
  /** Since when the guard has been holding without a break, if it does already. */
  readonly guardSince: string | undefined;
};

/** Compares the list with what is stored. Writes nothing. */
export function planPoll({ leagues, holds }: Snapshot, list: LeagueList, { scope, removalLimit }: PlanRules): Plan {
  const held = holds.all();
  const guardSince = findGuardSince(held);
  const stored = leagues.index();
  const changes = reconcile(stored, list.leagues, leagues.load);
  const removals = decideRemovals(stored, list, {
    scope,
    limit: removalLimit,
    accepted: new Set([...held].filter(([, hold]) => hold.accepted).map(([leagueId]) => leagueId)),
    joined: () => (guardSince === undefined ? new Set() : leagues.joinedSince(guardSince, scope)),
  });
  const counts = countPlan(changes, removals, list);
  const wrote = counts.added + counts.changed + counts.restored + counts.removed > 0;
  return {
    outcome: counts.held > 0 ? 'held' : wrote ? 'changed' : 'unchanged',
    counts,
    changes,
    removals,
    heldBecause: explainHold(removals, list, removalLimit),
    holds: { ...planHolds(held, removals, list), guardSince },
    rejections: list.rejections,
  };
}

/** Since when the guard has been holding without a break; undefined if nothing waits for an operator. */
function findGuardSince(held: ReadonlyMap<string, Hold>): string | undefined {
  const waiting = [...held.values()].filter((hold) => !hold.accepted);
  return waiting.map((hold) => hold.guardSince).toSorted()[0];
}

function countPlan(changes: ChangeSet, { removed, held }: Removals, list: LeagueList): RunCounts {
  return {
    received: list.received,
    added: changes.added.length,
    changed: changes.changed.length,
    unchanged: changes.unchanged,
    restored: changes.restored.length,
    rejected: list.rejections.length,
    duplicates: list.duplicates,
    removed: removed.length,
    held: held.length,
  };
}

/** A hold ends when its league is listed again, even unusably, or when its removal is applied. */
function planHolds(known: ReadonlyMap<string, Hold>, { removed, held }: Removals, list: LeagueList) {
  const over = new Set([...removed, ...list.rejections.map(({ leagueId }) => leagueId)]);
  return {
    begun: held.filter((leagueId) => !known.has(leagueId)),
    ended: [...known.keys()].filter((leagueId) => over.has(leagueId) || list.leagues.has(leagueId)),
  };
}
