import { isDeepStrictEqual } from 'node:util';
import type Database from 'better-sqlite3';
import { leagueJson } from '../league/feed-json.ts';
import { differingMembers, membersOf, parseJson } from '../league/json.ts';
import { LEAGUE_MEMBERS } from '../league/response-schemas.ts';
import type { leagueChanges } from './schema.ts';
import { isAsWritten, type LeagueRow, toLeague } from './tables/leagues.ts';

type Change = typeof leagueChanges.$inferSelect;

/** What the feed says of a league after the changes so far; `json`: the whole league, its last version if it is removed. */
type State = Pick<LeagueRow, 'first_seen_at' | 'changed_at' | 'removed_at'> & { readonly json: string };

/** Enough to see what is wrong: after one lost change, many do not fit. */
const MAX_FAULTS = 3;

/**
 * Reads the feed once, keeping only the last version of each league. `misfits`: the first changes that do not fit what is
 * before them. `differences`: the first leagues that the table `leagues` has otherwise than the feed, folded.
 */
export function foldFeed(db: Database.Database) {
  const states = new Map<string, State>();
  const misfits: string[] = [];
  let last = { seq: 0, run_id: 0, at: '' };
  let changes = 0;
  for (const change of db.prepare<[], Change>('SELECT * FROM league_changes ORDER BY seq').iterate()) {
    const { seq, at, league_id, kind } = change;
    const state = states.get(league_id);
    const why = findDisorder(change, last) ?? ifJson(() => findMisfit(change, state), 'has a text that is not JSON');
    if (why !== undefined) misfits.push(`change ${seq} (${league_id}) ${why}`);
    if (misfits.length === MAX_FAULTS) break;
    const json = change.after ?? state?.json ?? '';
    const removed_at = kind === 'removed' ? at : null;
    states.set(league_id, { json, first_seen_at: state?.first_seen_at ?? at, changed_at: at, removed_at });
    last = change;
    changes += 1;
  }
  const leagues = states.size;
  const differences = misfits.length > 0 ? [] : compare(db, states).take(MAX_FAULTS).toArray();
  return { changes, leagues, lastSeq: last.seq, misfits, differences };
}

/** All changes of a run have its instant, and each run a later one. */
function findDisorder({ run_id, at }: Change, last: Pick<Change, 'run_id' | 'at'>): string | undefined {
  if (run_id === last.run_id ? at === last.at : run_id > last.run_id && at > last.at) return undefined;
  return `is of run ${run_id} at ${at}, after one of run ${last.run_id} at ${last.at}`;
}

function findMisfit({ kind, before, after }: Change, state: State | undefined): string | undefined {
  const was = state === undefined ? 'never added' : state.removed_at === null ? 'live' : 'removed';
  if (was !== { added: 'never added', restored: 'removed', changed: 'live', removed: 'live' }[kind])
    return `says ${kind}, but the league was ${was} before`;
  if (state === undefined) return undefined;
  const expected = after === null ? state.json : beforeOf(state.json, after);
  return isSameJson(before, expected) ? undefined : 'has a `before` that does not fit the version before it';
}

/** The `before` of a change that leads from one version of a league to another. */
function beforeOf(was: string, after: string): string {
  const [old, now] = [membersOf(was), membersOf(after)];
  return JSON.stringify(Object.fromEntries(differingMembers(old, now).map((name) => [name, old[name] ?? null])));
}

function ifJson<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return otherwise;
    throw error;
  }
}

/** The order of keys makes no difference, as when leagues are compared. */
function isSameJson(one: string | null, other: string): boolean {
  return one === other || (one !== null && isDeepStrictEqual(parseJson(one), parseJson(other)));
}

function* compare(db: Database.Database, states: Map<string, State>): Generator<string> {
  for (const row of db.prepare<[], LeagueRow>('SELECT * FROM leagues').safeIntegers(true).iterate()) {
    const leagueId = String(row.league_id);
    const state = states.get(leagueId);
    if (state === undefined) yield `${leagueId} is not in the feed`;
    else if (!ifJson(() => isAsFolded(row, state), false)) yield `${leagueId} differs`;
    states.delete(leagueId);
  }
  for (const leagueId of states.keys()) yield `${leagueId} is missing`;
}

function isAsFolded(row: LeagueRow, { json, ...stamps }: State): boolean {
  const isStamped = Object.entries(stamps).every(([name, at]) => row[name] === at);
  return (
    isStamped && LEAGUE_MEMBERS.every((field) => isAsWritten(field, row)) && isSameJson(leagueJson(toLeague(row)), json)
  );
}
