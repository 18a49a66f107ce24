import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentHash } from '../../src/league/feed-json.ts';
import type { JsonObject } from '../../src/league/json.ts';
import type { League } from '../../src/league/response-schemas.ts';
import type { LeagueList } from '../../src/service/parse-leagues.ts';
import type { LeagueIndex } from '../../src/store/tables/leagues.ts';
import { type ChangeSet, reconcile } from '../../src/sync/plan.ts';
import { elementList, parseElements, RUNS, reverseKeys } from '../support/league-lists.ts';
import { makeLeague } from '../support/leagues.ts';

/** Two successive lists: some leagues are added, removed, changed, or unchanged. */
const elementLists = fc
  .tuple(elementList, elementList, fc.subarray(['a', 'b', 'c', 'd']))
  .map(([before, after, kept]) => {
    const isKept = (one: JsonObject, other: JsonObject): boolean =>
      one.league_id === other.league_id && kept.includes(String(one.league_id));
    return [before, after.map((element) => before.find((same) => isKept(same, element)) ?? element)] as const;
  });

type Row = { readonly league: League; readonly hash: string; readonly removed: boolean };
type Table = ReadonlyMap<string, Row>;

const load =
  (table: Table) =>
  (leagueId: string): League => {
    const row = table.get(leagueId);
    if (row === undefined) throw new Error(`There is no league ${leagueId}.`);
    return row.league;
  };
const compare = (table: Table, { leagues }: LeagueList): ChangeSet => reconcile(indexOf(table), leagues, load(table));

function indexOf(table: Table): LeagueIndex {
  const [live, others] = [false, true].map((isRemoved) =>
    [...table].filter(([, { removed }]) => removed === isRemoved),
  );
  return { live: new Map(live?.map(([id, { hash }]) => [id, hash])), others: new Map(others) };
}

function tableOf({ leagues }: LeagueList, removed: readonly string[] = []): Table {
  const rows = [...leagues].map(
    ([id, { league, hash }]) => [id, { league, hash, removed: removed.includes(id) }] as const,
  );
  return new Map(rows);
}

/** Applies a change set to a table; missing leagues stay. */
function applied(table: Table, { added, changed, restored, rehashed }: ChangeSet): Table {
  const written = [...added, ...changed.map(({ after }) => after), ...restored.map(({ after }) => after), ...rehashed];
  const rows = written.map(({ leagueId, league, hash }) => [leagueId, { league, hash, removed: false }] as const);
  return new Map([...table, ...rows]);
}

/** A change set as sorted plain values. */
function summary({ added, changed, restored, unchanged }: ChangeSet) {
  return {
    added: added.map(({ leagueId }) => leagueId).sort(),
    changed: changed.map(({ after, before }) => [after.leagueId, JSON.parse(before)]).sort(),
    restored: restored.map(({ after, before }) => [after.leagueId, JSON.parse(before)]).sort(),
    unchanged,
  };
}

const NOTHING = { added: [], changed: [], restored: [], unchanged: 0 };
const stored = makeLeague('l1', { priority: 1 });

describe('reconciling', () => {
  it.each<[string, readonly JsonObject[], readonly string[], readonly JsonObject[], object]>([
    ['a new league', [], [], [stored], { added: ['l1'] }],
    ['the same league', [stored], [], [stored], { unchanged: 1 }],
    ['a league that changed', [stored], [], [{ ...stored, priority: 2 }], { changed: [['l1', { priority: 1 }]] }],
    ['a league that came back as it was', [stored], ['l1'], [stored], { restored: [['l1', {}]] }],
    [
      'one that came back changed',
      [stored],
      ['l1'],
      [{ ...stored, city: 'Rome' }],
      { restored: [['l1', { city: null }]] },
    ],
    ['a league that is missing', [stored], [], [], {}],
    ['a league that is missing still', [stored], ['l1'], [], {}],
  ])('%s is said as what it is', async (_what, before, removed, after, expected) => {
    expect(summary(compare(tableOf(await parseElements(before), removed), await parseElements(after)))).toEqual({
      ...NOTHING,
      ...expected,
    });
  });

  it('does not report a hash of another program version as a change, and rewrites it', async () => {
    const list = await parseElements([stored]);
    const table = new Map([...tableOf(list)].map(([id, row]) => [id, { ...row, hash: 'of an older version' }]));
    const changeSet = compare(table, list);
    expect(summary(changeSet)).toEqual({ ...NOTHING, unchanged: 1 });
    expect(changeSet.rehashed.map(({ hash }) => hash)).toEqual([...list.leagues.values()].map(({ hash }) => hash));
  });

  it('a list with itself finds nothing to write', async () => {
    await fc.assert(
      fc.asyncProperty(elementList, async (elements) => {
        const list = await parseElements(elements);
        const changeSet = compare(tableOf(list), list);
        expect(summary(changeSet)).toEqual({ ...NOTHING, unchanged: elements.length });
        expect(changeSet.rehashed).toEqual([]);
      }),
      RUNS,
    );
  });

  it('finds the same for any order of elements and keys', async () => {
    await fc.assert(
      fc.asyncProperty(elementLists, async ([before, after]) => {
        const table = tableOf(await parseElements(before));
        const turned = after.map(reverseKeys).reverse();
        expect(compare(tableOf(await parseElements(after)), await parseElements(turned)).unchanged).toBe(after.length);
        expect(summary(compare(table, await parseElements(turned)))).toEqual(
          summary(compare(table, await parseElements(after))),
        );
      }),
      RUNS,
    );
  });

  it('and storing what it found gives what was received', async () => {
    await fc.assert(
      fc.asyncProperty(elementLists, fc.subarray(['a', 'b', 'c', 'd']), async ([before, after], removed) => {
        const table = tableOf(await parseElements(before), removed);
        const list = await parseElements(after);
        const result = applied(table, compare(table, list));
        for (const [id, { league, hash }] of list.leagues) {
          expect(result.get(id)).toMatchObject({ hash, removed: false });
          expect(contentHash(load(result)(id))).toBe(contentHash(league));
        }
        expect(summary(compare(result, list))).toEqual({ ...NOTHING, unchanged: list.leagues.size });
      }),
      RUNS,
    );
  });
});
