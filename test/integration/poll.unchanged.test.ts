import { describe, expect, it } from 'vitest';
import { pollLeagues } from '../../src/sync/poll.ts';
import { execute } from '../support/database.ts';
import { makeLeague, makeLeagues } from '../support/leagues.ts';
import { grantLogin, listLeagues } from '../support/service.ts';
import { type Bench, type ServedBench, setUpBench } from '../support/worker-resources.ts';

const LEAGUES = makeLeagues(3);
const TOKEN = 'token-abc-123';

async function openWithLeagues(): Promise<ServedBench> {
  const bench = await setUpBench({ login: grantLogin({ access_token: TOKEN }), leagues: listLeagues(LEAGUES) });
  await bench.poll();
  return bench;
}

const hashes = (bench: Bench) => bench.rows('SELECT content_hash FROM leagues ORDER BY league_id');

describe('leagues that did not change', () => {
  it('get a new hash if an earlier version of the program made another one, and no entry in the feed', async () => {
    await using bench = await openWithLeagues();
    const before = hashes(bench);
    execute(bench.path, "UPDATE leagues SET content_hash = content_hash || '.old.1.0'");
    expect(await bench.poll()).toMatchObject({ outcome: 'unchanged', counts: { unchanged: 3 } });
    expect(hashes(bench)).toEqual(before);
    expect(await bench.poll()).toMatchObject({ outcome: 'unchanged', wrote: false });
    expect(bench.rows('SELECT kind FROM league_changes')).toEqual(LEAGUES.map(() => ({ kind: 'added' })));
  });

  it('are added if another tool has deleted their rows, before the poll or in the midst of it', async () => {
    await using bench = await openWithLeagues();
    const forget = () =>
      execute(bench.path, "DROP TRIGGER IF EXISTS leagues_no_delete; DELETE FROM leagues WHERE league_id = 'l1'");
    forget();
    expect(await bench.poll()).toMatchObject({ counts: { added: 1, unchanged: 2 } });
    // Called between reading the stored leagues and the transaction.
    const drift = { ...bench.deps.drift, add: forget };
    const report = await pollLeagues({ ...bench.deps, drift }, 'manual', new AbortController().signal);
    expect(report).toMatchObject({ counts: { added: 1, unchanged: 2 } });
    expect(bench.rows('SELECT count(*) AS n FROM leagues')).toEqual([{ n: 3 }]);
  });

  it('do not bring drift back that another tool has deleted', async () => {
    await using bench = await openWithLeagues();
    await bench.pollWith([{ ...LEAGUES[0], motto: 'x' }, ...LEAGUES.slice(1)]);
    expect(bench.rows('SELECT field FROM drift')).toEqual([{ field: 'leagues[].motto' }]);
    execute(bench.path, 'DELETE FROM drift');
    await bench.pollWith(LEAGUES);
    expect(bench.rows('SELECT field FROM drift')).toEqual([]);
  });

  it.each<[string, string, object]>([
    [
      'a copy of its row under another id',
      "CREATE TEMP TABLE t AS SELECT * FROM leagues WHERE league_id = 'l1'; UPDATE t SET league_id = 'copy'; INSERT INTO leagues SELECT * FROM t",
      { removed: 1, unchanged: 3 },
    ],
    [
      'another id',
      "UPDATE leagues SET league_id = 'other' WHERE league_id = 'l1'",
      { added: 1, removed: 1, unchanged: 2 },
    ],
  ])('are not confused with others if another tool gave one %s', async (_what, sql, counts) => {
    await using bench = await openWithLeagues();
    execute(bench.path, sql);
    expect(await bench.poll()).toMatchObject({ counts });
    expect(bench.rows('SELECT league_id FROM active_leagues ORDER BY 1')).toEqual(
      LEAGUES.map(({ league_id }) => ({ league_id })),
    );
  });

  it('keep a Retry-After that came with a response in which one of them is no JSON', async () => {
    await using bench = await openWithLeagues();
    const body = '{"message":"ok","leagues":[{"league_id":}],"timestamp":null}';
    bench.service.script('leagues', { body, headers: { 'retry-after': '600' } });
    expect(await bench.poll()).toMatchObject({ outcome: 'failed', postponed: true, error: { kind: 'contract' } });
    expect(bench.rows('SELECT not_before FROM runs ORDER BY id DESC LIMIT 1')[0]?.not_before).not.toBeNull();
  });

  it('are unchanged if a token has to be taken out of them each time', async () => {
    await using bench = await openWithLeagues();
    const echo = [makeLeague('echo', { city: TOKEN })];
    expect(await bench.pollWith([...LEAGUES, ...echo])).toMatchObject({ counts: { added: 1, unchanged: 3 } });
    expect(bench.rows("SELECT city FROM leagues WHERE league_id = 'echo'")).toEqual([{ city: '[secret]' }]);
    expect(await bench.poll()).toMatchObject({ outcome: 'unchanged', wrote: false });
  });
});
