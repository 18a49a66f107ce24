import type { Scope } from '../config/config.ts';
import { createDriftLog, type Drift } from '../drift.ts';
import { ContractError } from '../errors.ts';
import { canonicalJson, DEEPEST_JSON, isDeeperThan, isObject, type JsonObject, type JsonValue } from '../json.ts';
import { contentHash, LEAGUE_FIELDS, type League } from '../league.ts';
import type { JsonText } from '../record.ts';
import { type Problem, readFields, readText, unknownFields } from './field.ts';

/** A league as received, with the hash of its content. */
export type ReceivedLeague = { readonly league: League; readonly hash: string };

/** An element of the list that cannot be stored. */
export type Rejection = {
  /** Null where it is unreadable, so that nobody can say which league is meant. */
  readonly leagueId: string | null;
  /** Place in the list, from 0. */
  readonly position: number;
  readonly problems: readonly Problem[];
  /** The element as canonical JSON. */
  readonly raw: JsonText;
};

/** What a leagues answer holds (interface, 4.3), read element by element (contract, 5.2). */
export type LeagueList = {
  readonly received: number;
  /** One of each league, by `league_id`. */
  readonly leagues: ReadonlyMap<string, ReceivedLeague>;
  readonly rejections: readonly Rejection[];
  /** Elements that say the same as another one. */
  readonly duplicates: number;
  readonly drift: readonly Drift[];
};

type Element =
  | { readonly position: number; readonly sent: JsonValue; readonly read: ReceivedLeague }
  | { readonly position: number; readonly sent: JsonValue; readonly rejected: Rejection };

const ANSWER_FIELDS = ['message', 'leagues', 'timestamp', 'result'];
/** How many elements a failure describes; the rest are counted. */
const PROBLEMS_SHOWN = 3;

/**
 * Reads the list of a leagues answer to a poll of this scope. Throws a ContractError where there is no list, or
 * where more than half of it cannot be stored.
 */
export function parseLeagues(answer: JsonObject, scope: Scope): LeagueList {
  const sent = answer.leagues;
  if (!Array.isArray(sent)) throw new ContractError('The leagues answer holds no list in "leagues".');
  refuseMostlyNothing(sent);
  const drift = createDriftLog();
  drift.note(unknownFields(answer, ANSWER_FIELDS, 'leagues'));
  const elements = sent.map((element: JsonValue, position) => readElement(element, position, drift.note));
  const list = settle(elements);
  for (const { league } of list.leagues.values()) {
    if (scope === 'all' || league.status === scope) continue;
    const detail = `not ${scope}, which was asked for`;
    drift.note([{ field: 'leagues[].status', kind: 'unexpected-value', detail }]);
  }
  refuseMostlyRejected(list);
  return { ...list, drift: drift.list() };
}

function readElement(sent: JsonValue, position: number, note: (drift: readonly Drift[]) => void): Element {
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
  const league = { ...values, extra } as League;
  return { position, sent, read: { league, hash: contentHash(league) } };
}

/** An element of this many fields is none of a league, and would be as large in every row that speaks of it. */
const MOST_FIELDS = 10_000;

function whyUnfit(sent: JsonValue): string | undefined {
  if (isDeeperThan(sent, DEEPEST_JSON)) return 'is nested too deeply';
  return isObject(sent) && Object.keys(sent).length > MOST_FIELDS ? 'has too many fields' : undefined;
}

function reject(sent: JsonValue, position: number, problems: readonly Problem[], kept = sent): Element {
  return { position, sent, rejected: { leagueId: readableId(sent), position, raw: canonicalJson(kept), problems } };
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
function settle(elements: readonly Element[]): Omit<LeagueList, 'drift'> {
  const versions = new Map<string, Set<string>>();
  for (const element of elements) {
    const id = 'read' in element ? element.read.league.league_id : element.rejected.leagueId;
    if (id === null) continue;
    const version = 'read' in element ? element.read.hash : element.rejected.raw;
    versions.set(id, (versions.get(id) ?? new Set()).add(version));
  }
  const leagues = new Map<string, ReceivedLeague>();
  const rejections: Rejection[] = [];
  let duplicates = 0;
  for (const element of elements) {
    if ('rejected' in element) {
      rejections.push(element.rejected);
      continue;
    }
    const id = element.read.league.league_id;
    if ((versions.get(id)?.size ?? 0) > 1) rejections.push(contradiction(element, id));
    else if (leagues.has(id)) duplicates += 1;
    else leagues.set(id, element.read);
  }
  return { received: elements.length, leagues, rejections, duplicates };
}

function contradiction(element: Element, leagueId: string): Rejection {
  const problems = [problem('league_id', 'is sent more than once, with different content')];
  return { leagueId, position: element.position, raw: canonicalJson(element.sent), problems };
}

const MANY_ELEMENTS = 100_000;
/** Null, or absent, these reject an element. */
const REQUIRED: readonly string[] = LEAGUE_FIELDS.flatMap(({ name, presence }) =>
  presence === 'required' ? [name] : [],
);

/**
 * A list of millions that are no leagues would take minutes and gigabytes to describe: the few that a failure describes
 * are enough, where a look at each tells that it will be one.
 */
function refuseMostlyNothing(sent: readonly JsonValue[]): void {
  if (sent.length < MANY_ELEMENTS) return;
  let hopeless = 0;
  const first: Rejection[] = [];
  for (const [position, element] of sent.entries()) {
    if (isObject(element) && REQUIRED.every((name) => (element[name] ?? null) !== null)) continue;
    hopeless += 1;
    if (hopeless > PROBLEMS_SHOWN) continue;
    const read = readElement(element, position, () => undefined);
    if ('rejected' in read) first.push(read.rejected);
  }
  if (hopeless * 2 > sent.length) throw mostlyRejected(hopeless, sent.length, first);
}

function refuseMostlyRejected({ received, rejections }: Omit<LeagueList, 'drift'>): void {
  if (rejections.length * 2 > received) throw mostlyRejected(rejections.length, received, rejections);
}

function mostlyRejected(rejected: number, received: number, first: readonly Rejection[]): ContractError {
  const shown = first.slice(0, PROBLEMS_SHOWN).map(describe);
  return new ContractError(
    `${rejected} of ${received} leagues cannot be stored, more than half, so nothing was applied: ${shown.join('; ')}${rejected > PROBLEMS_SHOWN ? '; …' : ''}`,
  );
}

function describe({ position, problems }: Rejection): string {
  return `leagues[${position}] ${problems.map(({ path, message }) => `${path} ${message}`.trim()).join(', ')}`;
}
