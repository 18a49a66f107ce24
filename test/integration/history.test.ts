import { describe, expect, it } from 'vitest';
import { createRandom, pickIndex, type Random } from '../../src/simulator/churn.ts';
import { pollLeagues } from '../../src/sync/poll.ts';
import { createWallClock } from '../support/clock.ts';
import { type Row, readExactRows } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { makeLeague } from '../support/leagues.ts';
import { fail, listLeagues, type Reply, startService } from '../support/service.ts';
import { shuffleItems } from '../support/shuffle.ts';
import { openBench } from '../support/worker-resources.ts';

const POLLS = 60;
const IDS = Array.from({ length: 14 }, (_, index) => `l${index}`);
const SEEDS = process.env.LEAGUE_TEST_SEED === undefined ? [20_261_120, 7] : [Number(process.env.LEAGUE_TEST_SEED)];
const FIELDS = `league_name sport league_image priority status sport_db_id active_season_type active_year external_id
  external_odds_id default_markets default_tournaments rankings active_poll state city create_datetime
  last_update_datetime extra`.split(/\s+/);
const EMBEDDED = ['default_markets', 'extra'];

/** Values as JSON text, so that numbers keep their digits. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  league_name: ['"One"', '"Zwei \\"zwei\\""', '"💡"'],
  priority: ['3', '1.5', '9007199254740993', '"12"', '0.1'],
  status: ['"active"', '"inactive"', '"paused"'],
  city: ['null', '"NY"', '""', '"null"', '{"a":1}'],
  external_id: ['12345678901234567890', '"x"', 'null'],
  default_markets: ['{}', '[]', 'null', '{"b":[1,2],"a":12345678901234567890}', '"text"'],
  default_tournaments: ['true', 'false', 'null', '"true"', '7'],
  rankings: ['true', 'false', '"maybe"'],
  create_datetime: [
    'null',
    '17',
    '9007199254740993',
    '9223372036854775808',
    '{"at":[1]}',
    'true',
    '"2020-01-01"',
    '1.25',
  ],
  last_update_datetime: ['null', '1700000000000', '"17"'],
  nickname: ['"N"', '{"x":[null]}', '12345678901234567890'],
};

/** A service whose list changes at random: JSON text by id. */
function createWorld(random: Random) {
  const pick = <T>(items: readonly T[]): T => items[pickIndex(items.length, random)] as T;
  const listed = new Map<string, Map<string, string>>();
  const fresh = (id: string) =>
    new Map(Object.entries(makeLeague(id)).map(([name, value]) => [name, JSON.stringify(value)]));
  const text = (fields: ReadonlyMap<string, string>) =>
    `{${shuffleItems([...fields], random)
      .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
      .join(',')}}`;
  const alter = (id: string): void => {
    const name = pick(Object.keys(VALUES));
    listed.get(id)?.set(name, pick(VALUES[name] ?? []));
  };
  const step = (): void => {
    const id = pick(IDS);
    const league = listed.get(id);
    if (league === undefined) listed.set(id, fresh(id));
    else if (random() < 0.25) listed.delete(id);
    else alter(id);
  };
  const oddities = (): readonly string[] => {
    const elements: string[] = [];
    const [first] = listed.values();
    if (first !== undefined && random() < 0.3) elements.push(text(first));
    if (first !== undefined && random() < 0.2) elements.push(text(new Map([...first, ['sport', '"contradiction"']])));
    if (random() < 0.2) elements.push(text(new Map([...fresh(pick(IDS)), ['priority', '"high"']])));
    if (random() < 0.1) elements.push(pick(['7', 'null', '{"league_id":""}']));
    return elements;
  };
  const answer = (scope: string): Reply => {
    if (random() < 0.1) return pick([fail(400), { status: 404 }, { body: '<html>' }, listLeagues([7, 8])]);
    if (random() < 0.05) return listLeagues([]);
    const status = JSON.stringify(scope);
    const elements = [...listed.values()]
      .filter((fields) => scope === 'all' || fields.get('status') === status)
      .map(text);
    return listLeagues(shuffleItems([...elements, ...oddities()], random));
  };
  return { step, answer, pick };
}

type Table = Map<string, Row>;

/** Reads JSON in the forms of columns: INTEGER as bigint, REAL as number. */
function parseExact(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, { source = '' }: { source?: string } = {}) => {
    if (typeof value !== 'number') return value;
    return /^-?\d+$/.test(source) ? BigInt(source) : value;
  });
}

/** The JSON text of one member of a whole league as the feed writes it. */
function memberText(whole: string, name: string): string {
  const league = JSON.parse(whole, (_key, value: unknown, { source = '' }: { source?: string } = {}) =>
    typeof value === 'number' ? JSON.rawJSON(source) : value,
  ) as Row;
  return JSON.stringify(league[name]);
}

/** A whole league in the forms of the columns of `leagues`. */
function toColumns(whole: string): Row {
  const values = parseExact(whole) as Row;
  const columns = Object.entries(values).map(([name, value]) => {
    if (EMBEDDED.includes(name)) return [name, value === null ? null : memberText(whole, name)];
    return [name, typeof value === 'boolean' ? BigInt(value) : value];
  });
  return Object.fromEntries(columns);
}

/** Folds the feed change by change, as any reader of the contract would. */
function fold(feed: readonly Row[]): Table {
  const table: Table = new Map();
  for (const { league_id, kind, at, after } of feed) {
    const id = String(league_id);
    const stored = table.get(id);
    if (kind === 'removed') table.set(id, { ...stored, changed_at: at, removed_at: at });
    else
      table.set(id, {
        ...toColumns(String(after)),
        first_seen_at: stored?.first_seen_at ?? at,
        changed_at: at,
        removed_at: null,
      });
  }
  return table;
}

function byId(rows: readonly Row[]): Table {
  return new Map(rows.map((row) => [String(row.league_id), row]));
}

/** Runs the polls and keeps the table as it was after each. */
async function simulate(seed: number) {
  const random = createRandom(seed);
  const folder = makeFolder();
  await using service = await startService();
  const world = createWorld(random);
  let now = Date.UTC(2026, 10, 20);
  const clock = createWallClock(() => now);
  const states: { readonly at: string; readonly outcome: string; readonly table: Table }[] = [];
  await using bench = await openBench({ folder, url: service.url, clock, settings: { REMOVAL_LIMIT: '30%' } });
  const read = (sql: string) => readExactRows(bench.path, sql);
  const statesOf = () => byId(read('SELECT * FROM leagues'));
  for (let poll = 0; poll < POLLS; poll += 1) {
    const changes = poll === 0 ? 20 : pickIndex(4, random);
    for (let step = 0; step < changes; step += 1) world.step();
    now += world.pick([0, 1, 1_000, 300_000, -500, -86_400_000]);
    const scope = world.pick(['all', 'all', 'all', 'active', 'inactive'] as const);
    service.script('leagues', world.answer(scope));
    const report = await pollLeagues({ ...bench.deps, scope }, 'schedule', new AbortController().signal);
    const at = String(read('SELECT finished_at FROM runs ORDER BY id DESC LIMIT 1')[0]?.finished_at);
    states.push({ at, outcome: report.outcome, table: statesOf() });
    // A rejected login would make the next polls wait for a minute.
    bench.place.session.retryNow();
  }
  return { folder, states, read };
}

describe.each(SEEDS)('a history of polls by chance (LEAGUE_TEST_SEED=%i)', (seed) => {
  it('is the same in the feed, the versions, the field changes and the runs', async () => {
    const { folder, states, read } = await simulate(seed);
    using _folder = folder;
    const feed = read('SELECT * FROM league_changes ORDER BY seq');
    expect(new Set(states.map(({ outcome }) => outcome))).toEqual(new Set(['changed', 'unchanged', 'held', 'failed']));
    expect(new Set(feed.map(({ kind }) => kind))).toEqual(new Set(['added', 'changed', 'removed', 'restored']));
    expectFoldIsTable(feed, states);
    expectVersionsTellStates(read, states);
    expectFieldChanges(read, feed, states);
    expectRunsAddUp(read);
  });
});

type States = Awaited<ReturnType<typeof simulate>>['states'];
type Read = Awaited<ReturnType<typeof simulate>>['read'];

function withoutHash(table: Table): Table {
  return new Map([...table].map(([id, { content_hash: _, ...row }]) => [id, row]));
}

/** Expects that the fold equals the table after every poll. */
function expectFoldIsTable(feed: readonly Row[], states: States): void {
  for (const { at, table } of states) {
    const known = feed.filter((change) => String(change.at) <= at);
    expect(fold(known)).toEqual(withoutHash(table));
  }
}

function expectVersionsTellStates(read: Read, states: States): void {
  const overlaps = read(`SELECT a.seq, b.seq FROM league_versions a JOIN league_versions b
    ON a.league_id = b.league_id AND a.seq < b.seq AND (a.valid_to IS NULL OR a.valid_to > b.valid_from)`);
  expect(overlaps).toEqual([]);
  expect(read('SELECT seq FROM league_versions WHERE valid_to <= valid_from')).toEqual([]);
  for (const { at, table } of states) {
    const versions = read(`SELECT league_id, ${FIELDS.join(', ')} FROM league_versions
      WHERE valid_from <= '${at}' AND (valid_to IS NULL OR valid_to > '${at}')`);
    const live = [...table].filter(([, row]) => row.removed_at === null);
    const expected = live.map(([id, row]) => [id, pickFields(row)] as const);
    expect(byId(versions)).toEqual(new Map(expected));
  }
}

function pickFields(row: Row): Row {
  return Object.fromEntries(['league_id', ...FIELDS].map((name) => [name, row[name]]));
}

function expectFieldChanges(read: Read, feed: readonly Row[], states: States): void {
  const expected = feed.flatMap(({ seq, at, kind, league_id }) => {
    if (kind !== 'changed' && kind !== 'restored') return [];
    const index = states.findIndex((state) => state.at === at);
    const [before, after] = [states[index - 1], states[index]].map(
      (state) => state?.table.get(String(league_id)) ?? {},
    );
    return FIELDS.filter((field) => before?.[field] !== after?.[field]).map((field) => ({
      seq,
      at,
      league_id,
      league_name: after?.league_name,
      field,
      old_value: before?.[field],
      new_value: after?.[field],
    }));
  });
  const found = read('SELECT seq, at, league_id, league_name, field, old_value, new_value FROM league_field_changes');
  const order = (rows: readonly Row[]) =>
    rows.toSorted(
      (a, b) => Number(a.seq) - Number(b.seq) || FIELDS.indexOf(String(a.field)) - FIELDS.indexOf(String(b.field)),
    );
  expect(order(found)).toEqual(order(expected));
}

function expectRunsAddUp(read: Read): void {
  const good = "outcome IN ('changed', 'unchanged', 'held')";
  expect(
    read(
      `SELECT id FROM runs WHERE ${good} AND added + changed + unchanged + restored + rejected + duplicates <> received`,
    ),
  ).toEqual([]);
  expect(read(`SELECT id FROM runs WHERE NOT ${good} AND received + added + changed + removed + held <> 0`)).toEqual(
    [],
  );
  expect(
    read(`SELECT id FROM runs AS r WHERE added + changed + restored + removed <>
    (SELECT count(*) FROM league_changes WHERE run_id = r.id)`),
  ).toEqual([]);
  expect(read('SELECT a.id FROM runs a JOIN runs b ON b.id = a.id + 1 WHERE b.finished_at <= a.finished_at')).toEqual(
    [],
  );
  expect(read(`SELECT c.seq FROM league_changes c JOIN runs r ON r.id = c.run_id WHERE c.at <> r.finished_at`)).toEqual(
    [],
  );
}
