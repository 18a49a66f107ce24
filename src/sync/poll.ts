import { leagueJson } from '../league/feed-json.ts';
import type { JsonText } from '../league/response-schemas.ts';
import { parseLeagues, type ReceivedLeague } from '../service/parse-leagues.ts';
import { parseProfile } from '../service/parse-profile.ts';
import type { Store } from '../store/store.ts';
import type { NewChange } from '../store/tables/leagues.ts';
import type { RunStamp, Trigger } from '../store/tables/runs.ts';
import { formatCount } from '../time/duration.ts';
import { chooseValidators, findValidators } from './conditional-requests.ts';
import { type ChangeSet, type Plan, planPoll } from './plan.ts';
import { NO_COUNTS, type RunReport } from './report.ts';
import { type ApplyResult, createRun, type RunDeps } from './run.ts';

/** Never rejects: if the poll fails, the report has the error. */
export async function pollLeagues(deps: RunDeps, trigger: Trigger, stop: AbortSignal): Promise<RunReport> {
  const { store, client, scope, drift, emit } = deps;
  using run = createRun(deps, 'leagues', trigger, stop);
  try {
    await run.begin();
    const validators = store.read(() => findValidators(deps));
    const fetched = await run.beforeDeadline(client.fetchLeaguesIfChanged(scope, validators, run));
    if (fetched === undefined)
      return await run.finish(validators ?? {}, () => ({ outcome: 'unchanged', counts: NO_COUNTS }));
    const { live } = store.read(() => store.leagues.index(scope));
    const options = { stored: live, signal: run.deadline.signal, emit };
    const list = await run.beforeDeadline(parseLeagues(fetched.body, scope, options));
    drift.add(list.drift);
    const kept = store.read(() => chooseValidators(deps, run, { sent: validators, received: fetched }));
    emit({ type: 'progress', what: `writing what is new in ${formatCount(list.received)} leagues` });
    return await run.finish({ ...fetched, ...kept }, (stamp) => commit(deps, planPoll(store, list, deps), stamp));
  } catch (error) {
    return await run.fail(error);
  }
}

/** Never rejects: if the poll fails, the report has the error. `player` is undefined unless the poll succeeds. */
export async function pollProfile(deps: RunDeps, trigger: Trigger, stop: AbortSignal) {
  const { store, client, drift } = deps;
  using run = createRun(deps, 'profile', trigger, stop);
  try {
    await run.begin();
    const fetched = await run.beforeDeadline(client.fetchProfile(run));
    const { player, drift: departures } = parseProfile(fetched.body);
    drift.add(departures);
    const report = await run.finish(fetched, ({ at }) => {
      const result = store.players.upsert(player, at);
      const counts = { ...NO_COUNTS, received: 1, [result]: 1 };
      return { outcome: result === 'unchanged' ? 'unchanged' : 'changed', counts };
    });
    return { report, player };
  } catch (error) {
    return { report: await run.fail(error), player: undefined };
  }
}

/** Must be called in the transaction in which the plan was made. */
function commit({ store, scope, baseUrl, serviceMoved = false }: RunDeps, plan: Plan, stamp: RunStamp): ApplyResult {
  const { outcome, counts, unusualChange, holdReason, heldBecause, holds } = plan;
  store.identity.claim(baseUrl, serviceMoved);
  writeChanges(store, plan.changes, stamp);
  for (const leagueId of plan.removals.removed) {
    const before = leagueJson(store.leagues.load(leagueId));
    store.leagues.remove(leagueId, stamp.at);
    store.leagues.append({ league_id: leagueId, kind: 'removed', before, after: null }, stamp);
  }
  store.holds.release(holds.ended);
  store.holds.hold(holds.begun, stamp, holdReason, holds.guardSince);
  const newRejections = store.rejections.update(plan.rejections, scope, stamp);
  return { outcome, counts, unusualChange, heldBecause, newRejections };
}

function writeChanges({ leagues }: Store, { added, changed, restored, rehashed }: ChangeSet, stamp: RunStamp): void {
  const written = [...added, ...changed.map(({ after }) => after), ...restored.map(({ after }) => after)];
  // Writes one table after the other, so that the pages of each stay in the cache.
  for (const after of written) leagues.upsert(after.league, after.hash, stamp.at);
  const append = (kind: NewChange['kind'], before: JsonText | null, { leagueId, league }: ReceivedLeague): void =>
    leagues.append({ league_id: leagueId, kind, before, after: leagueJson(league) }, stamp);
  for (const after of added) append('added', null, after);
  for (const { before, after } of changed) append('changed', before, after);
  for (const { before, after } of restored) append('restored', before, after);
  for (const { leagueId, hash } of rehashed) leagues.rehash(leagueId, hash);
}
