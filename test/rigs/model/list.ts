import { DECLARED, findField, readString } from './field.ts';
import { type Cell, canonical, isList, isMap, readJson, typeOf, type Written, type WrittenObject } from './json.ts';

export type Scope = 'all' | 'active' | 'inactive';
/** The 19 fields and `extra`, each as its column gives it back. */
export type Cells = Readonly<Record<string, Cell>>;
export type ModelRejection = {
  readonly leagueId: string | null;
  readonly raw: string;
  /** The invalid fields; an empty one for the whole element. */
  readonly paths: readonly string[];
};

/** A response, element by element (contract, 5.2). */
export type ModelList = {
  readonly received: number;
  readonly leagues: ReadonlyMap<string, Cells>;
  readonly rejections: readonly ModelRejection[];
  readonly duplicates: number;
  /** Texts of field, kind and detail. */
  /** For each departure, the first league that shows it; null if none does. */
  readonly drift: ReadonlyMap<string, string | null>;
};

type Element = {
  readonly id: string | null;
  readonly raw: string;
  /** Undefined if the element cannot be stored. */
  readonly cells: Cells | undefined;
  readonly paths: readonly string[];
  readonly drift: readonly string[];
};

export function driftKey(field: string, kind: string, detail: string): string {
  // UTF-8 has no unpaired surrogates, so a column stores the field name without them.
  return [field, kind, detail].join(' | ').toWellFormed();
}

/** Undefined if the answer fails the run: it holds no list, or more than half of the list is rejected. */
export function readAnswer(text: string, scope: Scope): ModelList | undefined {
  const answer = readJson(text);
  const sent = isMap(answer) ? answer.get('leagues') : undefined;
  if (!isMap(answer) || !isList(sent)) return undefined;
  const elements = sent.map(readElement);
  const leagues = new Map<string, Cells>();
  const rejections: ModelRejection[] = [];
  let duplicates = 0;
  for (const { id, raw, cells, paths } of elements) {
    if (cells === undefined || id === null) rejections.push({ leagueId: id, raw, paths });
    else if (isContradicted(id, elements)) rejections.push({ leagueId: id, raw, paths: ['league_id'] });
    else if (leagues.has(id)) duplicates += 1;
    else leagues.set(id, cells);
  }
  if (rejections.length > sent.length / 2) return undefined;
  const drift = new Map<string, string | null>(unknownFields(answer).map((key) => [key, null]));
  const note = (key: string, leagueId: string | null) => drift.has(key) || drift.set(key, leagueId);
  for (const { id, drift: departures } of elements) for (const key of departures) note(key, id);
  for (const [id, { status }] of leagues) {
    if (scope === 'all' || status === scope) continue;
    note(driftKey('leagues[].status', 'unexpected-value', `not ${scope}, which was asked for`), id);
  }
  const different = rejections.filter(({ raw }, index) => rejections.findIndex((one) => one.raw === raw) === index);
  duplicates += rejections.length - different.length;
  return { received: sent.length, leagues, rejections: different, duplicates, drift };
}

function unknownFields(answer: WrittenObject): readonly string[] {
  return [...answer]
    .filter(([name]) => !['message', 'leagues', 'timestamp', 'result'].includes(name))
    .map(([name, value]) => driftKey(`leagues.${name}`, 'unknown-field', typeOf(value)));
}

/** Whether the same id is also sent with different content, usable or not. */
function isContradicted(id: string, elements: readonly Element[]): boolean {
  const same = elements.filter((element) => element.id === id);
  return new Set(same.map(({ cells, raw }) => (cells === undefined ? raw : cellsText(cells)))).size > 1;
}

/** Equal for equal cells; their types count, too. */
export function cellsText(cells: Cells): string {
  return JSON.stringify(Object.entries(cells).map(([name, cell]) => [name, typeof cell, String(cell)]));
}

function readElement(sent: Written): Element {
  const raw = canonical(sent);
  if (!isMap(sent)) return { id: null, raw, cells: undefined, paths: [''], drift: [] };
  const cells: Record<string, Cell> = {};
  const extra = new Map<string, Written>();
  const drift: string[] = [];
  const id = readId(sent);
  const paths = new Set(id === null ? ['league_id'] : []);
  for (const name of Object.keys(DECLARED)) {
    const { cell, departure, spare, unusable } = findField(name, sent.get(name));
    cells[name] = cell;
    if (departure !== undefined) drift.push(driftKey(`leagues[].${name}`, departure.kind, departure.detail));
    if (spare !== undefined) extra.set(name, spare);
    if (unusable) paths.add(name);
  }
  if (typeof cells.status === 'string' && !['active', 'inactive'].includes(cells.status))
    drift.push(driftKey('leagues[].status', 'unexpected-value', 'neither active nor inactive'));
  for (const [name, value] of sent) {
    if (Object.hasOwn(DECLARED, name)) continue;
    extra.set(name, value);
    drift.push(driftKey(`leagues[].${name}`, 'unknown-field', typeOf(value)));
  }
  cells.extra = canonical(extra);
  return { id, raw, cells: paths.size === 0 ? cells : undefined, paths: [...paths], drift };
}

function readId(sent: WrittenObject): string | null {
  const id = readString(sent.get('league_id'))?.cell;
  return typeof id === 'string' && id !== '' ? id : null;
}
