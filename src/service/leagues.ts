import type { Scope } from '../config/config.ts';
import { createDriftLog, type Drift } from '../drift.ts';
import { ContractError } from '../errors.ts';
import { type JsonText, LEAGUE_FIELDS, LEAGUES_ANSWER, type League } from '../interface.ts';
import { canonicalJson, DEEPEST_JSON, isDeeperThan, isObject, type JsonObject, type JsonValue } from '../json.ts';
import { contentHash } from '../league.ts';
import { yieldToEventLoop } from '../yield.ts';
import { type Problem, readFields, readText, unknownFields } from './coerce.ts';

/** A league as received. */
export type ReceivedLeague = {
  readonly leagueId: string;
  readonly league: League;
  /** The same for two leagues exactly if they say the same. */
  readonly hash: string;
  /** Place in the list, from 0. */
  readonly position: number;
};

/** An element of the list that cannot be stored. */
export type Rejection = {
  /** Null if it is unreadable: then it could be any league. */
  readonly leagueId: string | null;
  /** Place in the list, from 0. */
  readonly position: number;
  readonly problems: readonly Problem[];
  /** The element as canonical JSON. */
  readonly raw: JsonText;
};

/** What a leagues answer holds (interface, 4.3), validated element by element (contract, 5.2). */
export type LeagueList = {
  readonly received: number;
  /** One of each league, by `league_id`. */
  readonly leagues: ReadonlyMap<string, ReceivedLeague>;
  /** One of each, by `raw`. */
  readonly rejections: readonly Rejection[];
  /** Elements that say the same as another one, stored or rejected. */
  readonly duplicates: number;
  readonly drift: readonly Drift[];
};

/** So many elements take a few milliseconds. */
const READ_AT_ONCE = 500;

/**
 * Parses a leagues answer; `scope` is what was asked for. Throws a ContractError if it holds no list, or if more than
 * half of the list cannot be stored.
 */
export async function parseLeagues(body: JsonObject, scope: Scope, signal?: AbortSignal): Promise<LeagueList> {
  const elements = body.leagues;
  if (!isList(elements)) throw new ContractError('The leagues answer holds no list in "leagues".');
  const received = elements.length;
  const usable: ReceivedLeague[] = [];
  const rejections: Rejection[] = [];
  let rejected = 0;
  const drift = createDriftLog();
  for (const [position, element] of elements.entries()) {
    if (position % READ_AT_ONCE === READ_AT_ONCE - 1) await yieldToEventLoop(signal);
    const read = readElement(element, position, drift.note);
    if (!('problems' in read)) {
      usable.push({ leagueId: read.league_id, league: read, hash: contentHash(read), position });
      continue;
    }
    rejected += 1;
    // Beyond a half the list is refused, and millions of descriptions would take gigabytes.
    if (rejections.length * 2 <= received) rejections.push(read);
  }
  const leagues = indexLeagues(usable, rejections);
  const contradictions = usable
    .filter(({ leagueId }) => !leagues.has(leagueId))
    .map(({ leagueId, position }) => contradiction(elements[position] ?? null, position, leagueId));
  const all = [...rejections, ...contradictions].sort((a, b) => a.position - b.position);
  assertMostlyUsable(rejected + contradictions.length, received, all);
  const distinct = distinctRejections(all);
  return {
    received,
    leagues,
    rejections: distinct,
    duplicates: received - leagues.size - distinct.length,
    drift: [...drift.list(), ...describeDrift(body, leagues.values(), scope)],
  };
}

/** Where an answer departs from the interface as a whole. */
function describeDrift(body: JsonObject, leagues: Iterable<ReceivedLeague>, scope: Scope): readonly Drift[] {
  const drift = unknownFields(body, Object.keys(LEAGUES_ANSWER.shape), 'leagues');
  if (scope === 'all' || Iterator.from(leagues).every(({ league }) => league.status === scope)) return drift;
  const detail = `not ${scope}, which was asked for`;
  return [...drift, { field: 'leagues[].status', kind: 'unexpected-value', detail }];
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function readElement(sent: JsonValue, position: number, note: (drift: readonly Drift[]) => void): League | Rejection {
  const unfit = whyUnfit(sent);
  if (unfit !== undefined) {
    return reject(sent, position, [{ path: '', message: unfit }], {
      league_id: readableId(sent),
      note: `${unfit} to be kept`,
    });
  }
  if (!isObject(sent)) return reject(sent, position, [{ path: '', message: 'is not an object' }]);
  const { values, problems, drift } = readFields(LEAGUE_FIELDS, sent, 'leagues[].');
  note(drift);
  const all = values.league_id === '' ? [{ path: 'league_id', message: 'is empty' }, ...problems] : problems;
  if (all.length > 0) return reject(sent, position, all);
  // Every required field has a value of its column's type here, and every other one has it or null.
  return values as League;
}

/** More fields than any league has; each row that speaks of the element would hold them all. */
const MOST_FIELDS = 10_000;

function whyUnfit(sent: JsonValue): string | undefined {
  if (isDeeperThan(sent, DEEPEST_JSON)) return 'is nested too deeply';
  return isObject(sent) && Object.keys(sent).length > MOST_FIELDS ? 'has too many fields' : undefined;
}

function reject(sent: JsonValue, position: number, problems: readonly Problem[], kept = sent): Rejection {
  return { leagueId: readableId(sent), position, raw: canonicalJson(kept), problems };
}

/** The id of an element that cannot be stored; null if even that cannot be read. */
function readableId(sent: JsonValue): string | null {
  const id = isObject(sent) && Object.hasOwn(sent, 'league_id') ? readText(sent.league_id)?.value : undefined;
  return typeof id === 'string' && id !== '' ? id : null;
}

/** One of each league, but none of which different things are said. */
function indexLeagues(
  usable: readonly ReceivedLeague[],
  rejections: readonly Rejection[],
): ReadonlyMap<string, ReceivedLeague> {
  const leagues = new Map<string, ReceivedLeague>();
  const contradicted = new Set(rejections.map(({ leagueId }) => leagueId));
  for (const league of usable) {
    const first = leagues.get(league.leagueId);
    if (first === undefined) leagues.set(league.leagueId, league);
    else if (first.hash !== league.hash) contradicted.add(league.leagueId);
  }
  for (const leagueId of contradicted) if (leagueId !== null) leagues.delete(leagueId);
  return leagues;
}

function contradiction(sent: JsonValue, position: number, leagueId: string): Rejection {
  const problems = [{ path: 'league_id', message: 'is sent more than once, with different content' }];
  return { leagueId, position, raw: canonicalJson(sent), problems };
}

/** One of each: an element that is sent again is a duplicate, as one that can be stored is. */
function distinctRejections(rejections: readonly Rejection[]): readonly Rejection[] {
  const byContent = new Map<JsonText, Rejection>();
  for (const rejection of rejections) if (!byContent.has(rejection.raw)) byContent.set(rejection.raw, rejection);
  return [...byContent.values()];
}

/** How many elements a failure describes; the rest are counted. */
const PROBLEMS_SHOWN = 3;

function assertMostlyUsable(rejected: number, received: number, rejections: readonly Rejection[]): void {
  if (rejected * 2 <= received) return;
  const shown = rejections.slice(0, PROBLEMS_SHOWN).map(describeRejection);
  throw new ContractError(
    `${rejected} of ${received} leagues cannot be stored, more than half, so nothing was applied: ${shown.join('; ')}${rejected > PROBLEMS_SHOWN ? '; …' : ''}`,
  );
}

function describeRejection({ position, problems }: Rejection): string {
  return `leagues[${position}] ${problems.map(({ path, message }) => `${path} ${message}`.trim()).join(', ')}`;
}
