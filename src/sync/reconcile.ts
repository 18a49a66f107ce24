import type { JsonText, League } from '../interface.ts';
import { changedMembersJson } from '../league.ts';
import type { ReceivedLeague } from '../service/leagues.ts';
import type { StoredLeague } from '../store/tables/leagues.ts';

/** A league whose row differs from what was received; `before` holds the old values of what differs. */
export type Difference = { readonly before: JsonText; readonly after: ReceivedLeague };

/** What has to be written so that the stored leagues equal the received ones. Removals are decided elsewhere. */
export type ChangeSet = {
  readonly added: readonly ReceivedLeague[];
  readonly changed: readonly Difference[];
  /** Leagues that had left the list. */
  readonly restored: readonly Difference[];
  /** Same content, whose hash was made by another version of the program. */
  readonly rehashed: readonly ReceivedLeague[];
  /** Leagues that were listed and are as they were, rehashed ones included. */
  readonly unchanged: number;
};

/**
 * Compares the received leagues with the stored ones. Pure: `load` gives the whole stored league, and is asked only
 * for those that differ. The order of leagues, and of keys inside them, is no difference.
 */
export function reconcile(
  stored: ReadonlyMap<string, StoredLeague>,
  received: ReadonlyMap<string, ReceivedLeague>,
  load: (leagueId: string) => League,
): ChangeSet {
  const added: ReceivedLeague[] = [];
  const changed: Difference[] = [];
  const restored: Difference[] = [];
  const rehashed: ReceivedLeague[] = [];
  let unchanged = 0;
  for (const [leagueId, after] of received) {
    const row = stored.get(leagueId);
    if (row === undefined) {
      added.push(after);
    } else if (row.removed) {
      restored.push({ before: changedMembersJson(load(leagueId), after.league), after });
    } else if (row.hash === after.hash) {
      unchanged += 1;
    } else {
      const before = changedMembersJson(load(leagueId), after.league);
      if (before === NOTHING) {
        rehashed.push(after);
        unchanged += 1;
      } else {
        changed.push({ before, after });
      }
    }
  }
  return { added, changed, restored, rehashed, unchanged };
}

const NOTHING = '{}';
