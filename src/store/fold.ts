import type Database from 'better-sqlite3';
import { canonicalJson, isObject, type JsonValue, parseJson } from '../league/json.ts';
import { leagueJson } from '../league/league-json.ts';
import { LEAGUE_MEMBERS } from '../league/schemas.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { isAsWritten, type LeagueRow, toLeague } from './tables/leagues.ts';

/** What the feed says of a league after the changes so far. */
type State = {
  /** The whole league as JSON: its last version before a removal. */
  readonly json: string;
  readonly firstAt: string;
  readonly changedAt: string;
  readonly removedAt: string | null;
};

type Change = {
  readonly seq: number;
  readonly run_id: number;
  readonly at: string;
  readonly league_id: string;
  readonly kind: 'added' | 'changed' | 'removed' | 'restored';
  readonly before: string | null;
  readonly after: string | null;
};

const CHANGES = 'SELECT seq, run_id, at, league_id, kind, before, after FROM league_changes ORDER BY seq';
/** Enough to see what is wrong: one lost row makes each later change of its league a fault. */
const MAX_FAULTS = 3;

/**
 * Reads the feed once, keeping only the last version of each league. `faults`: the first changes that do not fit what is
 * before them. `differences`: the first leagues that the table `leagues` has otherwise than the feed, folded.
 */
export function foldFeed(db: Database.Database) {
  const states = new Map<string, State>();
  const faults: string[] = [];
  let last = { seq: 0, run_id: 0, at: '' };
  let changes = 0;
  for (const change of db.prepare<[], Change>(CHANGES).iterate()) {
    const { seq, league_id } = change;
    const state = states.get(league_id);
    const fault = findDisorder(change, last) ?? findMisfit(change, state);
    if (fault !== undefined) faults.push(`change ${seq} (${league_id}) ${fault}`);
    if (faults.length === MAX_FAULTS) break;
    states.set(league_id, apply(change, state));
    last = change;
    changes += 1;
  }
  const leagues = states.size;
  return { changes, leagues, lastSeq: last.seq, faults, differences: faults.length > 0 ? [] : compare(db, states) };
}

function apply({ kind, at, before, after }: Change, state: State | undefined): State {
  const json = after ?? state?.json ?? before ?? '';
  return { json, firstAt: state?.firstAt ?? at, changedAt: at, removedAt: kind === 'removed' ? at : null };
}

/** All changes of a run have its instant, and each run a later one. */
function findDisorder({ seq, run_id, at }: Change, last: Pick<Change, 'seq' | 'run_id' | 'at'>): string | undefined {
  if (seq > last.seq && (run_id === last.run_id ? at === last.at : run_id > last.run_id && at > last.at))
    return undefined;
  return `is of run ${run_id} at ${at}, after one of run ${last.run_id} at ${last.at}`;
}

function findMisfit({ kind, before, after }: Change, state: State | undefined): string | undefined {
  if (kind === 'added') return state === undefined ? undefined : 'adds a league that there was before';
  if (state === undefined) return `says ${kind}, but the league was never added`;
  if ((state.removedAt !== null) !== (kind === 'restored'))
    return `says ${kind}, but the league was ${state.removedAt === null ? 'listed' : 'removed'} before`;
  const fits = kind === 'removed' ? isSameJson(before, state.json) : isStep(state.json, before ?? '', after ?? '');
  return fits ? undefined : 'has a `before` that does not fit the version before it';
}

/** Whether a change with this `before` leads from the league `was` to `after`. Numbers that lose digits are slow. */
function isStep(was: string, before: string, after: string): boolean {
  const old = JSON.parse(before);
  const now = JSON.parse(after);
  const differs = (name: string): boolean => typeof old[name] !== 'object' && name in now && old[name] !== now[name];
  const isPlain = isObject(old) && JSON.stringify(old) === before && Object.keys(old).every(differs);
  return (isPlain && JSON.stringify({ ...now, ...old }) === was) || isExactStep(was, before, after);
}

function isExactStep(...texts: readonly [was: string, before: string, after: string]): boolean {
  const [was, old, now] = texts.map(parseJson);
  if (!isObject(was) || !isObject(old) || !isObject(now)) return false;
  const names = new Set([was, old, now].flatMap(Object.keys));
  return [...names].every((name) => {
    if (!Object.hasOwn(old, name)) return isSameValue(was[name], now[name]);
    return isSameValue(was[name], old[name]) && !isSameValue(old[name], now[name]);
  });
}

/** The order of keys makes no difference, as in `isSameValue` of league-json.ts. */
function isSameValue(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return canonicalJson(one) === canonicalJson(other);
}

function isSameJson(one: string | null, other: string): boolean {
  return one === other || (one !== null && isSameValue(parseJson(one), parseJson(other)));
}

function compare(db: Database.Database, states: Map<string, State>): readonly string[] {
  const differences: string[] = [];
  for (const row of db.prepare<[], LeagueRow>('SELECT * FROM leagues').safeIntegers(true).iterate()) {
    const leagueId = String(row.league_id);
    const columns = differingColumns(row, states.get(leagueId));
    if (columns.length > 0) differences.push(`${leagueId} differs in ${columns.join(', ')}`);
    if (differences.length === MAX_FAULTS) return differences;
    states.delete(leagueId);
  }
  return [...differences, ...[...states.keys()].map((leagueId) => `${leagueId} is missing`)].slice(0, MAX_FAULTS);
}

function differingColumns(row: LeagueRow, state: State | undefined): readonly string[] {
  if (state === undefined) return ['every column: the feed does not have it'];
  const stamps = { first_seen_at: state.firstAt, changed_at: state.changedAt, removed_at: state.removedAt };
  const differing = Object.entries(stamps).flatMap(([name, at]) => (row[name] === at ? [] : [name]));
  // A text that is no JSON is a damage, too.
  const json = tryOrUndefined(() => leagueJson(toLeague(row)));
  const stored = json === undefined ? undefined : parseJson(json);
  const folded = parseJson(state.json);
  if (!isObject(stored) || !isObject(folded)) return [...differing, 'its JSON'];
  const names = new Set([stored, folded].flatMap(Object.keys));
  const fields = [...names].filter((name) => json !== state.json && !isSameValue(stored[name], folded[name]));
  const forms = LEAGUE_MEMBERS.filter((field) => !isAsWritten(field, row)).map(({ name }) => name);
  return [...new Set([...differing, ...fields, ...forms])];
}
