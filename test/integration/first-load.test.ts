import { describe, expect, it } from 'vitest';
import { MANY_LEAGUES } from '../../src/store/bulk.ts';
import type { Store } from '../../src/store/store.ts';
import { pollLeagues } from '../../src/sync/leagues.ts';
import { granted, leaguesAnswer, startScriptedService } from '../support/scripted-service.ts';
import { type Bench, makeFolder, makeLeague, openBench, type Row, withDatabase } from '../support/workplace.ts';

const TOKEN = 'token-4711-abcdefgh';
const SCHEMA = "SELECT name FROM sqlite_schema WHERE tbl_name = 'league_changes' ORDER BY name";

function makeMany(): Row[] {
  return Array.from({ length: MANY_LEAGUES + 1 }, (_, index) => makeLeague(`l${index}`));
}

/** Polls each list in turn, into one database. */
async function withPolls(
  lists: readonly (readonly unknown[])[],
  look: (bench: Bench) => void | Promise<void>,
  settings: Readonly<Record<string, string>> = {},
) {
  using folder = makeFolder();
  await using service = await startScriptedService();
  await using bench = await openBench({ folder, url: service.url, settings });
  service.script('login', granted({ access_token: TOKEN }));
  for (const list of lists) {
    service.script('leagues', leaguesAnswer(list));
    expect(await bench.poll()).not.toHaveProperty('error');
  }
  await look(bench);
}

/** All that does not tell when a poll was, or which one. */
function contentOf(bench: Bench): Readonly<Record<string, readonly Row[]>> {
  const leagues = Object.keys(bench.rows('SELECT * FROM leagues LIMIT 1')[0] ?? {}).filter(
    (name) => !/_at$/.test(name),
  );
  return {
    leagues: bench.rows(`SELECT ${leagues.join(', ')} FROM leagues ORDER BY league_id`),
    changes: bench.rows('SELECT league_id, kind, before, after FROM league_changes ORDER BY league_id'),
    rejected: bench.rows('SELECT league_id, position, problems, raw, scope FROM rejected_leagues ORDER BY position'),
    drift: bench.rows('SELECT field, kind, detail FROM drift ORDER BY field, kind'),
    schema: bench.rows(SCHEMA),
  };
}

/** Everything that a list can bring. */
function makeMotley(): readonly unknown[] {
  const list: unknown[] = makeMany();
  list[3] = makeLeague('l3', { league_name: `named ${TOKEN}`, colour: 'blue', priority: 12.25 });
  list[5_000] = makeLeague('l5000', { default_markets: { b: 1, a: [2, null] }, rankings: true, priority: 1.5 });
  list[6_000] = makeLeague('l6000', { priority: null });
  list[7_000] = 17;
  list[7_001] = Object.fromEntries(Object.entries(makeLeague('l17')).reverse());
  return list;
}

describe('a long list into a database without leagues', () => {
  it('leaves the same as where a part of it is stored already', async () => {
    const list = makeMotley();
    const contents: unknown[] = [];
    for (const lists of [[list], [list.slice(0, 1), list]])
      await withPolls(lists, (bench) => {
        contents.push(contentOf(bench));
      });
    expect(contents[0]).toEqual(contents[1]);
    const { rejected, drift } = contents[0] as Readonly<Record<string, readonly Row[]>>;
    expect(rejected?.map(({ position }) => position)).toEqual([6_000, 7_000]);
    expect(drift).toContainEqual(expect.objectContaining({ field: 'leagues[].colour' }));
    expect(JSON.stringify(contents)).not.toContain(TOKEN);
  });

  it('is counted, and unchanged when it comes again', async () => {
    const list = makeMotley();
    await withPolls([list, list], (bench) => {
      const counts = bench.rows(
        'SELECT outcome, received, added, unchanged, rejected, duplicates FROM runs ORDER BY id',
      );
      const [received, usable] = [list.length, list.length - 3];
      expect(counts).toEqual([
        { outcome: 'changed', received, added: usable, unchanged: 0, rejected: 2, duplicates: 1 },
        { outcome: 'unchanged', received, added: 0, unchanged: usable, rejected: 2, duplicates: 1 },
      ]);
    });
  });

  it('tells of leagues that were not asked for', async () => {
    const list = [...makeMany(), makeLeague('idle', { status: 'inactive' })];
    const look = (bench: Bench): void => {
      expect(bench.rows('SELECT field, detail FROM drift')).toEqual([
        { field: 'leagues[].status', detail: 'not active, which was asked for' },
      ]);
    };
    await withPolls([list], look, { STATUS: 'active' });
  });

  it.each<[string, unknown]>([
    ['another content', makeLeague('l17', { city: 'Elsewhere' })],
    ['no content that can be stored', makeLeague('l17', { priority: null })],
  ])('in which a league is sent again with %s is applied but for that league', async (_, again) => {
    await withPolls([[...makeMany(), again]], (bench) => {
      expect(bench.rows("SELECT league_id FROM leagues WHERE league_id IN ('l16', 'l17')")).toEqual([
        { league_id: 'l16' },
      ]);
      expect(bench.rows('SELECT added, rejected, duplicates FROM runs')).toEqual([
        { added: MANY_LEAGUES, rejected: 2, duplicates: 0 },
      ]);
      expect(bench.rows('SELECT count(*) AS n, max(seq) AS seq FROM league_changes')).toEqual([
        { n: MANY_LEAGUES, seq: MANY_LEAGUES },
      ]);
    });
  });

  it.each<[string, object]>([
    ['mostly no leagues', leaguesAnswer([...makeMany(), ...Array.from({ length: MANY_LEAGUES + 2 }, () => 17)])],
    ['no JSON in one place', { body: `{"leagues":[${makeMany().map((one) => JSON.stringify(one))},{"league_id" 1}]}` }],
  ])('that is %s changes nothing, and says why', async (_, answer) => {
    using folder = makeFolder();
    await using service = await startScriptedService();
    await using bench = await openBench({ folder, url: service.url });
    const schema = bench.rows(SCHEMA);
    service.script('leagues', answer);
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', error: { kind: 'contract' } });
    expect(bench.rows('SELECT (SELECT count(*) FROM leagues) + (SELECT count(*) FROM league_changes) AS n')).toEqual([
      { n: 0 },
    ]);
    expect(bench.rows(SCHEMA)).toEqual(schema);
  });

  it.each<[string, string]>([
    ['a number with more digits than JavaScript has', '"timestamp":1764000000123456789'],
    ['a value that is deeper than a thread is told', `"meta":${'['.repeat(10_000)}${']'.repeat(10_000)}`],
  ])('is loaded beside %s', async (_, member) => {
    const list = makeMany().map((one) => JSON.stringify(one));
    using folder = makeFolder();
    await using service = await startScriptedService();
    await using bench = await openBench({ folder, url: service.url });
    service.script('leagues', { body: `{"message":"ok",${member},"leagues":[${list}]}` });
    expect(await bench.poll()).toMatchObject({ outcome: 'changed', counts: { added: list.length } });
  });

  it('that takes longer to read than a run may last is not loaded, and the run ends', async () => {
    const odds = Array.from({ length: 200 }, (_, index) => `0.${index}12345678901234567890`).join(',');
    const list = makeMany().map((one) => JSON.stringify(one).replace(/}$/, `,"odds":[${odds}]}`));
    using folder = makeFolder();
    await using service = await startScriptedService();
    await using bench = await openBench({ folder, url: service.url, settings: { RUN_TIMEOUT: '1500ms' } });
    service.script('leagues', { body: `{"message":"ok","leagues":[${list}]}` });
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', error: { kind: 'timeout' } });
    expect(bench.rows('SELECT count(*) AS n FROM leagues')).toEqual([{ n: 0 }]);
  });

  it('is compared where another tool has put a league there at the last moment', async () => {
    using folder = makeFolder();
    await using service = await startScriptedService();
    await using bench = await openBench({ folder, url: service.url });
    service.script('leagues', leaguesAnswer(makeMany()));
    const { store } = bench.tools;
    let writes = 0;
    const write: Store['write'] = (work, signal) => {
      writes += 1;
      // The first one is that of the run's beginning.
      if (writes === 2) withDatabase(bench.path, (db) => db.exec(STRAY));
      return store.write(work, signal);
    };
    const tools = { ...bench.tools, store: { ...store, write } };
    const report = await pollLeagues(tools, 'manual', new AbortController().signal);
    expect(report).toMatchObject({ counts: { added: MANY_LEAGUES + 1, removed: 1 } });
  });
});

const STRAY = `INSERT INTO leagues
  (league_id, league_name, sport, league_image, priority, status, first_seen_at, changed_at, content_hash)
  VALUES ('stray', 'one', 'soccer', '', 1, 'active', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', '')`;
