import type { Scope } from './list.ts';

/** Leagues are named by number, fields by name; values are JSON texts, so that numbers keep their form. */
export type Edit =
  | { readonly op: 'list'; readonly league: number; readonly count: number }
  | { readonly op: 'drop'; readonly league: number; readonly count: number }
  | { readonly op: 'set'; readonly league: number; readonly field: string; readonly value: string };

/** An anomaly of one response; the leagues of the service do not change. */
export type Anomaly =
  /** The league is sent with another value, or without the field if the value is empty. */
  | { readonly op: 'spoil'; readonly league: number; readonly field: string; readonly value: string }
  /** The league is sent a second time with this change. */
  | { readonly op: 'copy'; readonly league: number; readonly field: string; readonly value: string }
  | { readonly op: 'junk'; readonly value: string };

export type Failure = 'network' | 'timeout' | 'status' | 'internal' | 'stopped' | 'no-list' | 'mostly-rejected';

/** One poll, and what happens before it, as plain data. */
export type Step = {
  readonly edits: readonly Edit[];
  readonly oddities: readonly Anomaly[];
  /** Also repeats the anomalies of this many responses before; 0 for none. */
  readonly oddAgain: number;
  /** Changes the order of elements and keys. */
  readonly order: number;
  readonly scope: Scope;
  /** The service forgets to filter. */
  readonly unfiltered: boolean;
  /** The fields of LEAGUE_SYNC_QUIET_FIELDS. */
  readonly quiet: readonly string[];
  /** Members of the response besides the list. */
  readonly members: string;
  readonly limitPercent: number;
  /** The limit equals the share of removals, in whole per cent. */
  readonly atLimit: boolean;
  readonly failure: Failure | null;
  readonly clockStepMs: number;
  /** Every n-th held removal is accepted before the poll; 0 for none. */
  readonly acceptEvery: number;
  readonly restart: boolean;
  readonly repeat: boolean;
};

type Fields = Map<string, string>;
/** The leagues of the service, and the anomalies of each response. */
export type Service = { readonly listed: Map<number, Fields>; readonly odd: (readonly Anomaly[])[] };

/** Ids that look alike, and ids that a program could stumble over. */
const ID_TEXTS = ['"a"', '7', '"07"', '12345678901234567890', '"__proto__"', '"é💡"', '"A"', '" a"'];
const JUNK = '{"league_id":null}';

export function createService(): Service {
  return { listed: new Map(), odd: [] };
}

function makeFields(league: number): Fields {
  const id = ID_TEXTS[league] ?? `"b${league}"`;
  return new Map([
    ['league_id', id],
    ['league_name', `"League ${league}"`],
    ['sport', '"soccer"'],
    ['league_image', '"https://images.example.com/l.png"'],
    ['priority', '3'],
    ['status', league % 3 === 2 ? '"inactive"' : '"active"'],
    ['create_datetime', '"2020-01-01T00:00:00Z"'],
    ['last_update_datetime', 'null'],
  ]);
}

/** The same response, except for the order of elements and keys. */
export function answerAgain(service: Service, step: Step): string {
  return answerStep(service, { ...step, edits: [], oddities: [], oddAgain: 1, order: step.order + 1 });
}

/** Applies the step to the service, and returns its response as JSON. */
export function answerStep(service: Service, step: Step): string {
  for (const edit of step.edits) applyEdit(service, edit);
  const again = step.oddAgain === 0 ? undefined : service.odd.at(-step.oddAgain);
  const oddities = [...(again ?? []), ...step.oddities];
  service.odd.push(oddities);
  if (step.failure === 'no-list') return '{"message":"ok","leagues":{"0":[]}}';
  const elements = sentElements(service, oddities, step).map((fields) => elementText(fields, step.order));
  const junk = oddities.filter(({ op }) => op === 'junk').map(({ value }) => value);
  const flood = step.failure === 'mostly-rejected' ? [...elements, ...junk, JUNK].map(() => JUNK) : [];
  return `{${step.members}"leagues":[${turn([...elements, ...junk, ...flood], step.order).join(',')}]}`;
}

function applyEdit({ listed }: Service, edit: Edit): void {
  if (edit.op === 'set') {
    listed.get(edit.league)?.set(edit.field, edit.value);
    return;
  }
  for (let league = edit.league; league < edit.league + edit.count; league += 1) {
    if (edit.op === 'drop') listed.delete(league);
    else if (!listed.has(league)) listed.set(league, makeFields(league));
  }
}

function sentElements(
  { listed }: Service,
  oddities: readonly Anomaly[],
  { scope, unfiltered }: Step,
): readonly Fields[] {
  const passes = (fields: Fields): boolean =>
    scope === 'all' || unfiltered || fields.get('status') === JSON.stringify(scope);
  const sent = new Map([...listed].filter(([, fields]) => passes(fields)));
  const copies: Fields[] = [];
  for (const oddity of oddities) {
    if (oddity.op === 'junk') continue;
    const changed = new Map(sent.get(oddity.league) ?? makeFields(oddity.league)).set(oddity.field, oddity.value);
    if (oddity.op === 'spoil') sent.set(oddity.league, changed);
    else copies.push(changed);
  }
  return [...sent.values(), ...copies];
}

function elementText(fields: Fields, order: number): string {
  const members = [...fields].filter(([, value]) => value !== '');
  return `{${turn(members, order)
    .map(([name, value]) => `${JSON.stringify(name)}:${turnKeys(value, order)}`)
    .join(',')}}`;
}

/** The same JSON, for odd orders with the members of every object the other way round. */
function turnKeys(json: string, order: number): string {
  if (order % 2 === 0 || !json.includes('{')) return json;
  const turned = JSON.parse(json, (_key, value: unknown, { source = '' }: { source?: string } = {}) => {
    if (typeof value === 'number') return JSON.rawJSON(source);
    const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isPlain ? Object.fromEntries(Object.entries(value).reverse()) : value;
  });
  return JSON.stringify(turned);
}

function turn<T>(items: readonly T[], order: number): readonly T[] {
  const first = items.length === 0 ? 0 : order % items.length;
  const turned = [...items.slice(first), ...items.slice(0, first)];
  return order % 2 === 0 ? turned : turned.reverse();
}
