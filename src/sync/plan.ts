import type { Config } from '../config/config.ts';
import { changedMembersJson, leagueJson } from '../league/feed-json.ts';
import type { JsonText, League } from '../league/response-schemas.ts';
import type { LeagueList, ReceivedLeague } from '../service/parse-leagues.ts';
import { changedPaths, type Step } from '../store/queries/changed-fields.ts';
import type { Snapshot } from '../store/queries/overview.ts';
import type { Hold } from '../store/tables/held-removals.ts';
import type { LeagueIndex } from '../store/tables/leagues.ts';
import { decideRemovals, explainHold, findHoldReason, type Removals } from './removal-guard.ts';

/** Everything that a poll of the leagues would write, except drift and the run's own row. */
export type Plan = ReturnType<typeof planPoll>;

export function planPoll(
  { leagues, holds }: Pick<Snapshot, 'leagues' | 'holds'>,
  list: LeagueList,
  { scope, removalLimit: limit, quietFields }: Pick<Config, 'scope' | 'removalLimit' | 'quietFields'>,
) {
  const held = holds.all();
  const waiting = [...held.values()].filter((hold) => !hold.accepted);
  const guardSince = waiting.map((hold) => hold.guardSince).toSorted()[0];
  const index = leagues.index(scope);
  const changes = reconcile(index, list.leagues, leagues.load, quietFields);
  const accepted = new Set([...held].filter(([, hold]) => hold.accepted).map(([leagueId]) => leagueId));
  const joined = () => (guardSince === undefined ? new Set<string>() : leagues.joinedSince(guardSince, scope));
  // If every live league was received, there is no removal to decide on.
  const live = changes.listed < index.live.size ? index.live.keys() : [];
  const removals = decideRemovals(live, list, { limit, accepted, joined });
  const counts = {
    received: list.received,
    added: changes.added.length,
    changed: changes.changed.length,
    unchanged: changes.unchanged,
    restored: changes.restored.length,
    rejected: list.rejections.length,
    duplicates: list.duplicates,
    removed: removals.removed.length,
    held: removals.held.length,
  };
  const holdReason = removals.held.length === 0 ? undefined : findHoldReason(list);
  const wrote = counts.added + counts.changed + counts.restored + counts.removed > 0;
  const outcome: 'changed' | 'unchanged' | 'held' = counts.held > 0 ? 'held' : wrote ? 'changed' : 'unchanged';
  const liveCount = index.live.size + [...index.others.values()].filter(({ removed }) => !removed).length;
  const unusualChange = findUnusualChange(changes.changed, liveCount, quietFields);
  return {
    outcome,
    counts,
    changes,
    unusualChange,
    removals,
    holdReason,
    heldBecause: holdReason && explainHold(holdReason, limit),
    /** The leagues whose hold begins or ends, and when removals began to be held (undefined if none are held yet). */
    holds: { ...planHolds(held, removals, list), guardSince },
    rejections: list.rejections,
  };
}

/** A hold ends when its league is listed again, even as a rejected element, or when its removal is applied. */
function planHolds(known: ReadonlyMap<string, Hold>, { removed, held }: Removals, list: LeagueList) {
  const over = new Set([...removed, ...list.rejections.map(({ leagueId }) => leagueId)]);
  return {
    begun: held.filter((leagueId) => !known.has(leagueId)),
    ended: [...known.keys()].filter((leagueId) => over.has(leagueId) || list.leagues.has(leagueId)),
  };
}

/** `before` has the old values of the fields that differ, such as `{"league_name":"NFL"}`. */
export type Difference = { readonly before: JsonText; readonly after: ReceivedLeague };

/** All changes, except removals, that make the stored leagues equal to the received ones. */
export type ChangeSet = ReturnType<typeof reconcile>;

/**
 * `load` is called only for a received league whose row is marked as removed or has another hash. A league that differs
 * in `quiet` fields alone counts as unchanged; its row and hash stay as they are, until it changes otherwise.
 */
export function reconcile(
  { live, others }: LeagueIndex,
  received: ReadonlyMap<string, ReceivedLeague>,
  load: (leagueId: string) => League,
  quiet: readonly string[] = [],
) {
  const added: ReceivedLeague[] = [];
  const changed: Difference[] = [];
  const restored: Difference[] = [];
  /** Leagues whose content is unchanged but whose stored hash was calculated by another program version. */
  const rehashed: ReceivedLeague[] = [];
  /** The number of leagues that are stored as they are, but for quiet fields. */
  let alike = 0;
  /** The number of live leagues that were received. */
  let listed = 0;
  for (const [leagueId, after] of received) {
    const hash = live.get(leagueId);
    const row = hash === undefined ? others.get(leagueId) : { hash, removed: false };
    if (hash !== undefined) listed += 1;
    if (row === undefined) {
      added.push(after);
      continue;
    }
    if (!row.removed && row.hash === after.hash) {
      alike += 1;
      continue;
    }
    const stored = load(leagueId);
    const before = changedMembersJson(stored, after.league);
    if (row.removed) restored.push({ before, after });
    else if (before === '{}') rehashed.push(after);
    else if (quiet.length === 0 || isLoud({ before, after: leagueJson(after.league) }, quiet))
      changed.push({ before, after });
    else alike += 1;
  }
  return { added, changed, restored, rehashed, unchanged: alike + rehashed.length, listed };
}

/** Whether more than quiet fields differ. A quiet field may be a member of `extra`, too. */
function isLoud(step: Step, quiet: readonly string[]): boolean {
  return changedPaths(step).some((path) => !path.some((name) => quiet.includes(name)));
}

/** Fields that often change in many leagues at once. */
const USUAL_FIELDS = ['last_update_datetime', 'extra'];
const UNUSUAL_ABOVE = 5;

/**
 * The fields that differ in more than 5 and more than a fifth of the leagues that were live, as `runs.unusual_change`
 * holds them; null if there are none.
 */
export function findUnusualChange(
  changed: readonly Pick<Difference, 'before'>[],
  live: number,
  quietFields: readonly string[],
): JsonText | null {
  if (changed.length <= UNUSUAL_ABOVE || changed.length * 5 <= live) return null;
  const usual = new Set([...USUAL_FIELDS, ...quietFields]);
  const fields = changed.flatMap(({ before }) => Object.keys(JSON.parse(before))).filter((field) => !usual.has(field));
  const unusual = [...Map.groupBy(fields, (field) => field)]
    .map(([field, { length: count }]) => ({ field, count }))
    .filter(({ count }) => count > UNUSUAL_ABOVE && count * 5 > live);
  return unusual.length === 0 ? null : JSON.stringify(unusual);
}
