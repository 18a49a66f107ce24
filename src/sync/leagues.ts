import type { JsonText } from '../interface.ts';
import { leagueJson } from '../league.ts';
import type { Validators } from '../service/client.ts';
import { type LeagueList, parseLeagues, type ReceivedLeague } from '../service/leagues.ts';
import type { Store } from '../store/store.ts';
import type { Change } from '../store/tables/leagues.ts';
import type { Sighting, Trigger } from '../store/tables/runs.ts';
import { type Plan, planPoll } from './plan.ts';
import type { ChangeSet } from './reconcile.ts';
import { NO_COUNTS, type RunReport } from './report.ts';
import { type Applied, Run, type RunTools } from './run.ts';

/** One poll of the leagues: fetch, parse, plan, commit (contract, 5). Never rejects: the report says how it ended. */
export async function pollLeagues(tools: RunTools, trigger: Trigger, stop: AbortSignal): Promise<RunReport> {
  const { store, client, scope, drift } = tools;
  using run = new Run(tools, 'leagues', trigger, stop);
  try {
    await run.begin();
    const validators = store.read(() => findValidators(tools));
    const fetched = await run.inTime(client.fetchLeaguesIfChanged(scope, validators, run.deadline, run.trace));
    if (fetched === undefined) return await run.finish(validators ?? {}, () => NOTHING_NEW);
    const list = await run.inTime(parseLeagues(fetched.body, scope, run.deadline.signal));
    announceFirstLoad(tools, list);
    drift.note(list.drift);
    return await run.finish(fetched, (seen) => commit(tools, planPoll(store, list, tools), seen));
  } catch (error) {
    return await run.fail(error);
  }
}

/** Storing more than these for the first time takes seconds. */
const MANY_LEAGUES = 10_000;

function announceFirstLoad({ store, emit }: RunTools, { received }: LeagueList): void {
  if (received > MANY_LEAGUES && store.read(store.leagues.isEmpty)) emit({ type: 'firstLoad', received });
}

const NOTHING_NEW: Applied = { outcome: 'unchanged', counts: NO_COUNTS };

/** A service whose validators do not change with its list is found out after this. */
const LONGEST_TRUST_MS = 24 * 3_600_000;

/**
 * What stands for the list that the stored leagues are, for this service, account, scope and version of the program
 * (contract, 5.1). Undefined while removals are held, since an acceptance needs the list, and if the whole list has not
 * been seen for a day.
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

/** Writes a plan, inside the transaction in which it was made. */
function commit({ store, scope }: RunTools, plan: Plan, seen: Sighting): Applied {
  const { outcome, counts, heldBecause, holds } = plan;
  writeChanges(store, plan.changes, seen);
  writeRemovals(store, plan.removals.removed, seen);
  store.holds.release(holds.ended);
  store.holds.hold(holds.begun, seen, holds.guardSince);
  const newRejections = store.rejections.settle(plan.rejections, scope, seen);
  return { outcome, counts, heldBecause, newRejections };
}

function writeChanges(
  { leagues, widenCache }: Store,
  { added, changed, restored, rehashed }: ChangeSet,
  seen: Sighting,
): void {
  const written = [...added, ...changed.map(({ after }) => after), ...restored.map(({ after }) => after)];
  widenCache(written.length);
  // One table after the other, so that the pages of each are at hand while it is written.
  for (const after of written) leagues.upsert(after.league, after.hash, seen.at);
  const append = (kind: Change['kind'], before: JsonText | null, after: ReceivedLeague): void =>
    leagues.append({ ...seen, leagueId: after.leagueId, kind, before, after: leagueJson(after.league) });
  for (const after of added) append('added', null, after);
  for (const { before, after } of changed) append('changed', before, after);
  for (const { before, after } of restored) append('restored', before, after);
  for (const { leagueId, hash } of rehashed) leagues.rehash(leagueId, hash);
}

function writeRemovals({ leagues }: Store, removed: readonly string[], seen: Sighting): void {
  for (const leagueId of removed) {
    const before = leagueJson(leagues.load(leagueId));
    leagues.remove(leagueId, seen.at);
    leagues.append({ ...seen, leagueId, kind: 'removed', before, after: null });
  }
}
