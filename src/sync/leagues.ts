import { leagueJson } from '../league.ts';
import { type LeagueList, parseLeagues } from '../service/league.ts';
import type { LeagueRows } from '../store/leagues.ts';
import type { OddityRows } from '../store/oddities.ts';
import type { Trigger } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import { type ChangeSet, reconcile } from './reconcile.ts';
import { decideRemovals, type Removals } from './removal.ts';
import { type Apply, executeRun, type RunReport, type RunTools } from './run.ts';

/** One poll of the leagues: fetch, parse, reconcile, apply (contract, 5). */
export function pollLeagues(tools: RunTools, trigger: Trigger, stop: AbortSignal): Promise<RunReport> {
  return executeRun(tools, 'leagues', trigger, stop, async (deadline, trace) => {
    const fetched = await tools.client.fetchLeagues(tools.scope, deadline, trace);
    const list = parseLeagues(fetched.body, tools.scope === 'all' ? undefined : tools.scope);
    tools.drift.note(...list.drift);
    return { fetched, apply: (run) => applyList(tools, list, run) };
  });
}

/** What a poll would do, decided from the stored state. */
export type Plan = { readonly changeSet: ChangeSet; readonly removals: Removals };

/** As much of a database as a comparison needs. */
export type Readable = {
  readonly leagues: Pick<LeagueRows, 'index' | 'load'>;
  readonly oddities: Pick<OddityRows, 'holds'>;
};

/** Compares the list with what is stored. Writes nothing. */
export function planPoll(
  { leagues, oddities }: Readable,
  list: LeagueList,
  { scope, removalLimit }: Pick<RunTools, 'scope' | 'removalLimit'>,
): Plan {
  const stored = leagues.index();
  const accepted = new Set([...oddities.holds()].filter(([, hold]) => hold.accepted).map(([leagueId]) => leagueId));
  return {
    changeSet: reconcile(stored, list.leagues, leagues.load),
    removals: decideRemovals(stored, list, { scope, limit: removalLimit, accepted }),
  };
}

/** The counts of a run and its outcome, from what was planned. */
export function countPlan({ changeSet, removals }: Plan, list: LeagueList): ReturnType<Apply> {
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
  return { outcome: counts.held > 0 ? 'held' : wrote ? 'changed' : 'unchanged', counts };
}

function applyList(
  tools: RunTools,
  list: LeagueList,
  run: { readonly id: number; readonly at: string },
): ReturnType<Apply> {
  const { store } = tools;
  const plan = planPoll(store, list, tools);
  writeChanges(store, plan.changeSet, run);
  writeRemovals(store, plan.removals.removed, run);
  settleHolds(store, plan.removals, list, run);
  store.oddities.settleRejections(list.rejections, tools.scope, { runId: run.id, at: run.at });
  return countPlan(plan, list);
}

function writeChanges(
  { leagues }: Store,
  changeSet: ChangeSet,
  run: { readonly id: number; readonly at: string },
): void {
  const { added, changed, restored, rehashed } = changeSet;
  const differences = [
    ...added.map((after) => ({ kind: 'added' as const, before: null, after })),
    ...changed.map((difference) => ({ kind: 'changed' as const, ...difference })),
    ...restored.map((difference) => ({ kind: 'restored' as const, ...difference })),
  ];
  for (const { kind, before, after } of differences) {
    const { league, hash } = after;
    leagues.upsert(league, hash, run.at);
    leagues.append({ runId: run.id, at: run.at, leagueId: league.league_id, kind, before, after: leagueJson(league) });
  }
  for (const { league, hash } of rehashed) leagues.rehash(league.league_id, hash);
}

function writeRemovals(
  { leagues }: Store,
  removed: readonly string[],
  run: { readonly id: number; readonly at: string },
): void {
  for (const leagueId of removed) {
    const before = leagueJson(leagues.load(leagueId));
    leagues.remove(leagueId, run.at);
    leagues.append({ runId: run.id, at: run.at, leagueId, kind: 'removed', before, after: null });
  }
}

/** A hold ends when its league is listed again, even unusably, or when its removal has been applied. */
function settleHolds(
  { oddities }: Store,
  { removed, held }: Removals,
  list: LeagueList,
  run: { readonly id: number; readonly at: string },
): void {
  const gone = new Set(removed);
  const listedBadly = new Set(list.rejections.map((rejection) => rejection.leagueId));
  const known = [...oddities.holds().keys()];
  oddities.release(known.filter((id) => gone.has(id) || list.leagues.has(id) || listedBadly.has(id)));
  const holding = new Set(known);
  oddities.hold(
    held.filter((id) => !holding.has(id)),
    { runId: run.id, at: run.at },
  );
}
