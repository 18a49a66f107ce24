import type { Scope } from '../config/config.ts';
import { createDriftLog, type Drift } from '../drift.ts';
import { ContractError } from '../errors.ts';
import { canonicalJson, DEEPEST_JSON, isDeeperThan, isObject, type JsonObject, type JsonValue } from '../json.ts';
import { contentHash, LEAGUE_FIELDS, type League, leagueJson } from '../league.ts';
import { isSameContent, type LeagueHash, leagueHash, NO_TEXT_HASH } from '../league-hash.ts';
import type { JsonText } from '../record.ts';
import type { Stretches } from '../stretches.ts';
import { type Problem, readFields, readText, unknownFields } from './field.ts';
import type { Elements, Listing, ReadElement } from './listing.ts';
import { describeHopeless, distinct, isHopeless, type Rejection, refuseMostlyRejected, STRIDE } from './rejection.ts';

/** What is stored of a league, as far as it spares reading it again. */
export type KnownLeague = { readonly leagueId: string; readonly status: string; readonly hash: LeagueHash };

/** A league as received. */
export type ReceivedLeague = KnownLeague & {
  /** Place in the list, from 0. */
  readonly position: number;
  /** All of it. Where it was known, it is read for this only now. */
  readonly league: () => League;
  /** The same as the change feed writes it. */
  readonly json: () => JsonText;
};

/** What a leagues answer holds (interface, 4.3), read element by element (contract, 5.2). */
export type LeagueList = {
  readonly received: number;
  /** One of each league, by `league_id`. */
  readonly leagues: ReadonlyMap<string, ReceivedLeague>;
  /** One of each, by `raw`. */
  readonly rejections: readonly Rejection[];
  /** Elements that say the same as another one, be it stored or rejected. */
  readonly duplicates: number;
  readonly drift: readonly Drift[];
};

export type ParseOptions = {
  /** What was asked for. */
  readonly scope: Scope;
  /** The program's version: what another one has read is read again. */
  readonly programVersion: string;
  /** By the hash of the text that they were read from. */
  readonly known?: ReadonlyMap<string, KnownLeague>;
};

const ANSWER_FIELDS = ['message', 'leagues', 'timestamp', 'result'];

/**
 * Reads the list of a leagues answer. Elements that are known are not read. Throws a ContractError where there is no
 * list, or where more than half of it cannot be stored.
 */
export function* parseLeagues(answer: Listing, options: ParseOptions): Stretches<LeagueList> {
  const { body, elements } = answer;
  if (elements === undefined) throw new ContractError('The leagues answer holds no list in "leagues".');
  const usable: ReceivedLeague[] = [];
  const found = yield* readLeagues(elements, options, (league) => usable.push(league));
  if (elements.length > STRIDE) yield;
  const list = settle(usable, found.rejections, elements);
  refuseMostlyRejected(list);
  const rejections = distinct(list.rejections);
  const duplicates = list.duplicates + list.rejections.length - rejections.length;
  const statuses = list.leagues.values().map(({ status }) => status);
  const drift = [...found.drift, ...driftOf(body, statuses, options.scope)];
  return { ...list, rejections, duplicates, drift };
}

/** Where an answer departs from the interface as a whole; its leagues that are stored have these statuses. */
export function driftOf(body: JsonObject, statuses: Iterable<string>, scope: Scope): readonly Drift[] {
  const drift = unknownFields(body, ANSWER_FIELDS, 'leagues');
  if (scope === 'all' || Iterator.from(statuses).every((status) => status === scope)) return drift;
  const detail = `not ${scope}, which was asked for`;
  return [...drift, { field: 'leagues[].status', kind: 'unexpected-value', detail }];
}

/** What is found in a list beside its leagues. */
export type Found = { readonly rejections: readonly Rejection[]; readonly drift: readonly Drift[] };

/**
 * Reads a list element by element, and gives away each league as it is read; how they fit together is left to others.
 * Throws a ContractError where most of a long list cannot be stored.
 */
export function* readLeagues(
  elements: Elements,
  { programVersion, known }: Omit<ParseOptions, 'scope'>,
  take: (league: ReceivedLeague) => void,
): Stretches<Found> {
  const rejections: Rejection[] = [];
  const drift = createDriftLog();
  for (let position = 0; position < elements.length; position += 1) {
    if (position > 0 && position % STRIDE === 0) yield;
    const textHash = elements.textHashOf(position);
    const stored = known?.get(textHash);
    // A row that somebody copied, or gave another id, is not the one that the text speaks of.
    if (stored !== undefined && elements.holds(position, stored.leagueId)) {
      take(new RecognizedLeague(stored, position, elements));
      continue;
    }
    const sent = elements.read(position);
    const found = readElement(sent.value, position, drift.note);
    if ('problems' in found) {
      rejections.push(found);
      if (isHopeless(rejections, elements)) throw yield* describeHopeless(rejections, elements);
    } else {
      const json = leagueJson(found);
      const hash = leagueHash(contentHash(found, json), sent.isScrubbed ? NO_TEXT_HASH : textHash, programVersion);
      const { league_id: leagueId, status } = found;
      take({ leagueId, status, hash, position, league: () => found, json: () => json });
    }
  }
  return { rejections, drift: drift.list() };
}

type NoteDrift = (drift: readonly Drift[]) => void;

/** One object for each of many: with closures of its own, each would be four. */
class RecognizedLeague implements ReceivedLeague {
  readonly leagueId: string;
  readonly status: string;
  readonly hash: LeagueHash;
  readonly position: number;
  private readonly elements: Elements;

  constructor({ leagueId, status, hash }: KnownLeague, position: number, elements: Elements) {
    this.leagueId = leagueId;
    this.status = status;
    this.hash = hash;
    this.position = position;
    this.elements = elements;
  }

  league(): League {
    const read = readElement(this.elements.read(this.position).value, this.position, () => undefined);
    if ('problems' in read) throw new Error(`league ${this.leagueId} could be read before, and cannot now`);
    return read;
  }

  json(): JsonText {
    return leagueJson(this.league());
  }
}

function readElement(sent: JsonValue, position: number, note: NoteDrift): League | Rejection {
  const unfit = whyUnfit(sent);
  if (unfit !== undefined) {
    return reject(sent, position, [problem('', unfit)], { league_id: readableId(sent), note: `${unfit} to be kept` });
  }
  if (!isObject(sent)) return reject(sent, position, [problem('', 'is not an object')]);
  const { values, extra, problems, drift } = readFields(LEAGUE_FIELDS, sent, 'leagues[].');
  note(drift);
  const all = values.league_id === '' ? [problem('league_id', 'is empty'), ...problems] : problems;
  if (all.length > 0) return reject(sent, position, all);
  // Every required field has a value of its column's type here, and every other one has it or null.
  return { ...values, extra } as League;
}

/** An element of this many fields is none of a league, and would be as large in every row that speaks of it. */
const MOST_FIELDS = 10_000;

function whyUnfit(sent: JsonValue): string | undefined {
  if (isDeeperThan(sent, DEEPEST_JSON)) return 'is nested too deeply';
  return isObject(sent) && Object.keys(sent).length > MOST_FIELDS ? 'has too many fields' : undefined;
}

function reject(sent: JsonValue, position: number, problems: readonly Problem[], kept = sent): Rejection {
  return { leagueId: readableId(sent), position, raw: canonicalJson(kept), problems };
}

/** The id of an element that cannot be stored; null where even that cannot be read. */
function readableId(sent: JsonValue): string | null {
  const id = isObject(sent) && Object.hasOwn(sent, 'league_id') ? readText(sent.league_id)?.value : undefined;
  return typeof id === 'string' && id !== '' ? id : null;
}

function problem(path: string, message: string): Problem {
  return { path, message };
}

/** Collapses duplicates that say the same and rejects those that contradict each other. */
function settle(
  usable: readonly ReceivedLeague[],
  rejections: readonly Rejection[],
  elements: Elements,
): Omit<LeagueList, 'drift'> {
  const leagues = new Map<string, ReceivedLeague>();
  const again: ReceivedLeague[] = [];
  for (const league of usable) {
    if (leagues.has(league.leagueId)) again.push(league);
    else leagues.set(league.leagueId, league);
  }
  const contradicted = new Set<string>();
  for (const { leagueId, hash } of again) {
    const first = leagues.get(leagueId);
    if (first !== undefined && !isSameContent(first.hash, hash)) contradicted.add(leagueId);
  }
  for (const { leagueId } of rejections) if (leagueId !== null && leagues.has(leagueId)) contradicted.add(leagueId);
  const received = elements.length;
  if (contradicted.size === 0) return { received, leagues, rejections, duplicates: again.length };

  for (const leagueId of contradicted) leagues.delete(leagueId);
  const contradictions = usable
    .filter(({ leagueId }) => contradicted.has(leagueId))
    .map(({ leagueId, position }) => contradiction(elements.read(position), position, leagueId));
  return {
    received,
    leagues,
    rejections: [...rejections, ...contradictions].sort((a, b) => a.position - b.position),
    duplicates: again.filter(({ leagueId }) => !contradicted.has(leagueId)).length,
  };
}

function contradiction({ value }: ReadElement, position: number, leagueId: string): Rejection {
  const problems = [problem('league_id', 'is sent more than once, with different content')];
  return { leagueId, position, raw: canonicalJson(value), problems };
}
