import { leagueJson } from '../league.ts';
import { isReadByVersion } from '../league-hash.ts';
import type { JsonText } from '../record.ts';
import type { Fetched, Validators } from '../service/client.ts';
import { type KnownLeague, type LeagueList, parseLeagues, type ReceivedLeague } from '../service/league.ts';
import type { Store } from '../store/store.ts';
import type { Hold, HoldRows } from '../store/tables/held-removals.ts';
import type { Change, LeagueIndex, LeagueRows } from '../store/tables/leagues.ts';
import type { Sighting, Trigger } from '../store/tables/runs.ts';
import { inStretches, makeWay } from '../stretches.ts';
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
    const received = fetched.elements?.length ?? 0;
    if (received > MANY_LEAGUES && tools.store.read(tools.store.leagues.isEmpty)) tools.onFirstLoad?.(received);
    // A long answer has been cut up just now, and to look up what is stored takes as long.
    if (isLong(fetched)) await makeWay(deadline.signal);
    const list = await readList(tools, fetched, deadline.signal);
    tools.drift.note(list.drift);
    return { fetched, apply: (seen) => applyList(tools, list, seen) };
  });
}

/** To store more than these for the first time takes a while. */
const MANY_LEAGUES = 10_000;

/** So many leagues are cut out of an answer, looked up, or gone through in a few milliseconds each. */
const FEW_LEAGUES = 2_000;

function isLong({ elements }: Fetched): boolean {
  return (elements?.length ?? 0) > FEW_LEAGUES;
}

async function readList(tools: RunTools, fetched: Fetched, signal: AbortSignal): Promise<LeagueList> {
  const { store, scope, programVersion } = tools;
  const known = findKnown(store.read(store.leagues.index), programVersion);
  if (isLong(fetched)) await makeWay(signal);
  return inStretches(parseLeagues(fetched, { scope, programVersion, known }), signal);
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

/** The leagues that need not be read where they are sent in the same text. */
function findKnown(index: LeagueIndex, programVersion: string): ReadonlyMap<string, KnownLeague> {
  const known = new Map<string, KnownLeague>();
  // One that comes back is written whole, so it is read at once.
  for (const row of index.values())
    if (!row.removed && isReadByVersion(row.hash, programVersion)) known.set(row.textHash, row);
  return known;
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
  const newRejections = store.rejections.settle(list.rejections, scope, seen);
  return { ...countPlan(plan, list, removalLimit), newRejections };
}

function writeChanges(
  { leagues, widenCache }: Store,
  { added, changed, restored, rehashed }: ChangeSet,
  seen: Sighting,
): void {
  const written = [...added, ...changed.map(({ after }) => after), ...restored.map(({ after }) => after)];
  widenCache(written.length);
  // One table after the other, so that the pages of each are at hand while it is written.
  for (const after of written) leagues.upsert(after.league(), after.hash, seen.at);
  const append = (kind: Change['kind'], before: JsonText | null, after: ReceivedLeague): void =>
    leagues.append({ ...seen, leagueId: after.leagueId, kind, before, after: after.json() });
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

/** A hold ends when its league is listed again, even unusably, or when its removal has been applied. */
function settleHolds({ holds }: Store, { removed, held }: Removals, list: LeagueList, seen: Sighting): void {
  const known = holds.all();
  const ended = new Set([...removed, ...list.rejections.map(({ leagueId }) => leagueId)]);
  holds.release([...known.keys()].filter((leagueId) => ended.has(leagueId) || list.leagues.has(leagueId)));
  holds.hold(
    held.filter((leagueId) => !known.has(leagueId)),
    seen,
    findGuardSince(known),
  );
}
