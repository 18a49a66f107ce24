import { leagueJson } from '../league.ts';
import type { Validators } from '../service/client.ts';
import { type LeagueList, parseLeagues } from '../service/league.ts';
import type { Hold, HoldRows } from '../store/holds.ts';
import type { LeagueRows } from '../store/leagues.ts';
import type { Sighting, Trigger } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { type ChangeSet, reconcile } from './reconcile.ts';
import { decideRemovals, explainHold, type Removals } from './removal.ts';
import { NO_COUNTS, type RunReport } from './report.ts';
import { type Applied, executeRun, type RunTools } from './run.ts';

/** One poll of the leagues: fetch, parse, reconcile, apply (contract, 5). */
export function pollLeagues(tools: RunTools, trigger: Trigger, stop: AbortSignal): Promise<RunReport> {
  return executeRun(tools, 'leagues', trigger, stop, async (deadline, trace) => {
    const validators = tools.store.read(() => findValidators(tools));
    const fetched = await tools.client.fetchLeagues(tools.scope, deadline, trace, validators);
    if (fetched === undefined) return { fetched: validators ?? {}, apply: () => NOTHING_NEW };
    const list = parseLeagues(fetched.body, tools.scope);
    tools.drift.note(list.drift);
    return { fetched, apply: (seen) => applyList(tools, list, seen) };
  });
}

const NOTHING_NEW: Applied = { outcome: 'unchanged', counts: NO_COUNTS };

/** A service whose validators do not change with its list is found out after this. */
const LONGEST_TRUST_MS = 24 * 3_600_000;

/**
 * What stands for the list that the stored leagues are, for this service, account, scope and version of the program
 * (contract, 5.1). Undefined while removals are held, since an acceptance wants the list, and where the whole list has
 * not been seen for a day.
 */
function findValidators({ store, scope, fingerprint, programVersion, clock }: RunTools): Validators | undefined {
  const last = store.runs.lastApplied();
  if (last === undefined || (last.etag === null && last.last_modified === null)) return undefined;
  if (last.scope !== scope || last.fingerprint !== fingerprint || last.program_version !== programVersion)
    return undefined;
  const seenAt = store.runs.lastListAt();
  const age = seenAt === undefined ? Number.POSITIVE_INFINITY : clock.now() - Date.parse(seenAt);
  if (age < 0 || age > LONGEST_TRUST_MS || store.holds.all().size > 0) return undefined;
  return { etag: last.etag ?? undefined, lastModified: last.last_modified ?? undefined };
}

/** What a poll would do, decided from the stored state. */
export type Plan = { readonly changeSet: ChangeSet; readonly removals: Removals };

/** As much of a database as a comparison needs. */
export type Readable = {
  readonly leagues: Pick<LeagueRows, 'index' | 'load' | 'joinedSince'>;
  readonly holds: Pick<HoldRows, 'all'>;
};

const NOBODY: ReadonlySet<string> = new Set();

/** Compares the list with what is stored. Writes nothing. */
export function planPoll(
  { leagues, holds }: Readable,
  list: LeagueList,
  { scope, removalLimit }: Pick<RunTools, 'scope' | 'removalLimit'>,
): Plan {
  const stored = leagues.index();
  const known = holds.all();
  const accepted = new Set([...known].filter(([, hold]) => hold.accepted).map(([leagueId]) => leagueId));
  const since = findGuardSince(known);
  const joined = () => (since === undefined ? NOBODY : leagues.joinedSince(since, scope));
  return {
    changeSet: reconcile(stored, list.leagues, leagues.load),
    removals: decideRemovals(stored, list, { scope, limit: removalLimit, accepted, joined }),
  };
}

/** Since when the guard has been holding without a break; undefined where nothing waits for an operator. */
function findGuardSince(known: ReadonlyMap<string, Hold>): string | undefined {
  const waiting = [...known.values()].filter((hold) => !hold.accepted);
  return waiting.map((hold) => hold.guardSince).toSorted()[0];
}

/** The counts and the outcome of a plan. */
export function countPlan({ changeSet, removals }: Plan, list: LeagueList, limit: number): Applied {
  const counts = {
    received: list.received,
    added: changeSet.added.length,
    changed: changeSet.changed.length,
    unchanged: changeSet.unchanged,
    restored: changeSet.restored.length,
    rejected: list.rejections.length,
    duplicates: list.duplicates,
    removed: removals.removed.length,
    held: removals.held.length,
  };
  const wrote = counts.added + counts.changed + counts.restored + counts.removed > 0;
  const outcome = counts.held > 0 ? 'held' : wrote ? 'changed' : 'unchanged';
  return { outcome, counts, heldBecause: explainHold(removals, list, limit) };
}

function applyList({ store, scope, removalLimit }: RunTools, list: LeagueList, seen: Sighting): Applied {
  const plan = planPoll(store, list, { scope, removalLimit });
  writeChanges(store, plan.changeSet, seen);
  writeRemovals(store, plan.removals.removed, seen);
  settleHolds(store, plan.removals, list, seen);
  store.rejections.settle(list.rejections, scope, seen);
  return countPlan(plan, list, removalLimit);
}

function writeChanges({ leagues }: Store, { added, changed, restored, rehashed }: ChangeSet, seen: Sighting): void {
  const differences = [
    ...added.map((after) => ({ kind: 'added' as const, before: null, after })),
    ...changed.map((difference) => ({ kind: 'changed' as const, ...difference })),
    ...restored.map((difference) => ({ kind: 'restored' as const, ...difference })),
  ];
  for (const { kind, before, after } of differences) {
    const { league, hash } = after;
    leagues.upsert(league, hash, seen.at);
    leagues.append({ ...seen, leagueId: league.league_id, kind, before, after: leagueJson(league) });
  }
  for (const { league, hash } of rehashed) leagues.rehash(league.league_id, hash);
}

function writeRemovals({ leagues }: Store, removed: readonly string[], seen: Sighting): void {
  for (const leagueId of removed) {
    const before = leagueJson(leagues.load(leagueId));
    leagues.remove(leagueId, seen.at);
    leagues.append({ ...seen, leagueId, kind: 'removed', before, after: null });
  }
}

/** A hold ends when its league is listed again, even unusably, or when its removal has been applied. */
function settleHolds({ holds }: Store, { removed, held }: Removals, list: LeagueList, seen: Sighting): void {
  const known = holds.all();
  const ended = new Set([...removed, ...list.leagues.keys(), ...list.rejections.map(({ leagueId }) => leagueId)]);
  holds.release([...known.keys()].filter((leagueId) => ended.has(leagueId)));
  holds.hold(
    held.filter((leagueId) => !known.has(leagueId)),
    seen,
    findGuardSince(known),
  );
}
