import { describe, expect, it } from 'vitest';
import { addBlockingTrigger, dropBlockingTrigger, type TriggerEvent } from '../support/blocking-trigger.ts';
import { dumpTables, type Row } from '../support/database.ts';
import { makeLeague, makeLeagues } from '../support/leagues.ts';
import { listLeagues } from '../support/service.ts';
import { type Bench, type ServedBench, setUpBench } from '../support/worker-resources.ts';

const LEAGUES = 40;
/** More than the removal guard lets pass; most of them return later. */
const HELD = 12;
const RETURNING = 8;
const CHANGED = LEAGUES - HELD + RETURNING - 1;
const REMOVED = 1 + HELD - RETURNING;
const BAD = [makeLeague('bad-1', { league_name: null }), makeLeague('bad-2', { priority: 'high' })];
const ODD = makeLeague('odd', { nickname: 'a new field', rankings: 'maybe' });

/** The first list of the service. */
const SENT = [...makeLeagues(LEAGUES - HELD), ODD, ...BAD];
/** A list that would write rows of every table; a failed poll must leave none of them. */
const NEXT = [
  ...makeLeagues(CHANGED + 1, { sport: 'chess' }).slice(1),
  makeLeague('new', { motto: 'another new field' }),
  makeLeague('bad-3', { priority: {} }),
  ODD,
];
const NEXT_ANSWER = listLeagues(NEXT);

/** A worker whose database has leagues, changes, rejections, drift and held removals in it. */
async function openWithHistory(): Promise<ServedBench> {
  const bench = await setUpBench({ leagues: [listLeagues(makeLeagues(LEAGUES)), listLeagues(SENT)] });
  expect(await bench.poll()).toMatchObject({ outcome: 'changed' });
  expect(await bench.poll()).toMatchObject({ outcome: 'held' });
  const { leagues, league_changes, rejected_leagues, held_removals, drift } = dumpTables(bench.path);
  const rows = [leagues, league_changes, rejected_leagues, held_removals, drift].map((table) => table?.length);
  expect(rows).toEqual([LEAGUES + 1, LEAGUES + 1, BAD.length, HELD, expect.any(Number)]);
  return bench;
}

/** Every table except those of runs and logins. */
function stored({ path }: Bench): Readonly<Record<string, readonly Row[]>> {
  const { runs: _runs, logins: _logins, ...tables } = dumpTables(path);
  return tables;
}

/** Expects a poll that fails and changes nothing, then one that catches up. */
async function expectNoTrace(bench: ServedBench, kind: string, recover: () => void): Promise<void> {
  const before = stored(bench);
  const runs = bench.rows('SELECT * FROM runs ORDER BY id');
  expect(await bench.poll()).toMatchObject({ outcome: 'failed', error: { kind } });
  expect(stored(bench)).toEqual(before);
  const [run, ...earlier] = bench.rows('SELECT * FROM runs ORDER BY id DESC');
  expect(run).toMatchObject({ outcome: 'failed', error_kind: kind, received: 0, added: 0, changed: 0, held: 0 });
  expect(earlier.toReversed()).toEqual(runs);
  recover();
  await expectNext(bench);
}

/** Expects the poll that catches up after the failure. */
async function expectNext(bench: ServedBench): Promise<void> {
  bench.service.script('leagues', NEXT_ANSWER);
  const { length: received } = NEXT;
  expect(await bench.poll()).toMatchObject({
    outcome: 'changed',
    counts: { received, added: 1, changed: CHANGED, rejected: 1, unchanged: 1, removed: REMOVED, held: 0 },
  });
}

describe.concurrent('a poll leaves no trace but its row, and the next one makes up for it, when SQLite', () => {
  const LAST_CHANGED = `l${CHANGED + 1}`;
  it.each<[string, TriggerEvent]>([
    ['updates a league', { on: 'UPDATE ON leagues', when: `NEW.league_id = '${LAST_CHANGED}'` }],
    ['appends the last removal', { on: 'INSERT ON league_changes', when: `NEW.league_id = 'l${LEAGUES}'` }],
    ['adds to drift', { on: 'INSERT ON drift', when: "NEW.field LIKE '%motto'" }],
    ['ends the run', { on: 'UPDATE ON runs', when: "NEW.outcome = 'changed'" }],
  ])('fails when the poll %s', async (_, occasion) => {
    await using bench = await openWithHistory();
    bench.service.script('leagues', NEXT_ANSWER);
    addBlockingTrigger(bench.path, occasion, "RAISE(ABORT, 'in the way')");
    await expectNoTrace(bench, 'database', () => dropBlockingTrigger(bench.path));
  });
});

it('a poll that nothing is wrong with writes rows of every table, so that the others had something to leave', async () => {
  await using bench = await openWithHistory();
  const before = stored(bench);
  await expectNext(bench);
  const after = stored(bench);
  const same = Object.keys(before).filter(
    (table) => JSON.stringify(before[table], text) === JSON.stringify(after[table], text),
  );
  expect(same.join(' ')).toBe(
    'data_dictionary database_identity outputs players poll_requests schema_migrations webhook',
  );
});

function text(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
