import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFacetCounter, type Filter, listLeagues, type Sort } from '../../src/store/queries/leagues.ts';
import { createSeasonReader } from '../../src/store/queries/seasons.ts';
import { withDatabase } from '../support/database.ts';
import { type Folder, makeFolder } from '../support/folder.ts';
import { makeLeague } from '../support/leagues.ts';
import { setUpBench } from '../support/worker-resources.ts';

const LEAGUES = [
  makeLeague('a', { league_name: 'Alpha', sport: 'soccer', city: 'Rome' }),
  makeLeague('b', { league_name: 'beta 100%', sport: 'golf', status: 'inactive' }),
  makeLeague('c', { league_name: 'Gamma', sport: 'soccer' }),
];

let folder: Folder;

beforeAll(async () => {
  folder = makeFolder();
  await using bench = await setUpBench({}, { folder });
  // The league c leaves the list, alone, so that the guard lets it go.
  for (const leagues of [LEAGUES, LEAGUES.slice(0, 2)]) expect((await bench.pollWith(leagues)).outcome).toBe('changed');
});
afterAll(() => folder[Symbol.dispose]());

const list = (filter: Filter, page = 1, limit = 10, sort: Sort = 'name') =>
  withDatabase(folder.file('leagues.db'), (db) => listLeagues(db, filter, { page, limit, sort }));
const idsOf = (filter: Filter) => list(filter).leagues.map(({ league_id }) => league_id);

describe('the leagues that a filter finds', () => {
  it.each<[string, Filter, readonly string[]]>([
    ['all that are live, by name, without a filter', {}, ['a', 'b']],
    ['the removed ones alone', { status: 'removed' }, ['c']],
    ['those with a status', { status: 'inactive' }, ['b']],
    ['those of a sport, without removed ones', { sport: 'soccer' }, ['a']],
    ['those with a part of the name, in any case', { search: 'ALPH' }, ['a']],
    ['those in a city', { search: 'rome' }, ['a']],
    ['the one with an id', { search: 'b' }, ['b']],
    ['those with a sign that LIKE would take for any text', { search: '0%' }, ['b']],
    ['none', { search: '%a' }, []],
  ])('are %s', (_what, filter, ids) => {
    expect(idsOf(filter)).toEqual(ids);
    expect(list(filter).total).toBe(ids.length);
  });

  it('come in pages, the last of which stands for all beyond it', () => {
    expect(list({}, 2, 1)).toMatchObject({ total: 2, page: 2, leagues: [{ league_id: 'b' }] });
    expect(list({}, 9, 1)).toMatchObject({ total: 2, page: 2, leagues: [{ league_id: 'b' }] });
  });

  it.each<[Sort, readonly string[]]>([
    ['name', ['a', 'b', 'd']],
    ['changed', ['d', 'a', 'b']],
    ['priority', ['b', 'd', 'a']],
  ])('are sorted by %s', (sort, ids) => {
    withDatabase(folder.file('leagues.db'), (db) => {
      db.exec('BEGIN');
      db.exec(`UPDATE leagues SET priority = 10 WHERE league_id = 'a'; UPDATE leagues SET priority = 9 WHERE league_id = 'b';
        INSERT INTO leagues SELECT 'd', 'Zulu', sport, league_image, 9, status, sport_db_id, active_season_type, active_year,
          external_id, external_odds_id, default_markets, default_tournaments, rankings, active_poll, state, city,
          create_datetime, last_update_datetime, extra, first_seen_at, '2999-01-01T00:00:00.000Z', NULL, content_hash
          FROM leagues WHERE league_id = 'a'`);
      expect(listLeagues(db, {}, { page: 1, limit: 10, sort }).leagues.map(({ league_id }) => league_id)).toEqual(ids);
      db.exec('ROLLBACK');
    });
  });

  it('are sorted by a number at the end of the name, then by the number', async () => {
    await using bench = await setUpBench();
    const names = ['Ligue 1', 'League 10', 'league 2', 'League', 'League 1', '2. Liga'];
    await bench.pollWith(names.map((league_name, id) => makeLeague(`l${id}`, { league_name })));
    const { leagues } = withDatabase(bench.path, (db) => listLeagues(db, {}, { page: 1, limit: 10, sort: 'name' }));
    expect(leagues.map(({ league_name }) => league_name).join(', ')).toBe(
      '2. Liga, League, League 1, league 2, League 10, Ligue 1',
    );
  });

  it('are in season, begin soon or ended lately by what the service sends, and else in no group', async () => {
    await using bench = await setUpBench();
    const types = { on: 'regular', late: 'playoffs', pre: 'Preseason', over: 'playoffs', none: '', removed: 'regular' };
    const before = Object.entries(types).map(([id, type]) => makeLeague(id, { active_season_type: type }));
    const after = before
      .slice(0, 5)
      .map((league) => (league.league_id === 'over' ? { ...league, status: 'inactive' } : league));
    for (const leagues of [before, after]) await bench.pollWith(leagues);
    const overview = withDatabase(bench.path, (db) => createSeasonReader()(db, new Date().toISOString(), '2026'));
    const idsIn = (group: 'now' | 'soon' | 'ended') =>
      overview[group].map(({ leagues, first }) => [leagues, first.map(({ league_id }) => league_id).join()]);
    expect([idsIn('now'), idsIn('soon'), idsIn('ended')]).toEqual([[[2, 'late,on']], [[1, 'pre']], [[1, 'over']]]);
    const steps = overview.top.find(({ league_id }) => league_id === 'over')?.steps;
    expect(steps?.map(({ status }) => status)).toEqual(['active', 'inactive']);
  });

  it('are those whose removal is held', () => {
    withDatabase(folder.file('leagues.db'), (db) => {
      db.exec('BEGIN');
      db.exec(
        "INSERT INTO held_removals (league_id, first_run_id, held_since) SELECT 'b', max(id), '2026-01-01T00:00:00.000Z' FROM runs",
      );
      const { total, leagues } = listLeagues(db, { status: 'held' }, { page: 1, limit: 10 });
      expect([total, leagues.map(({ league_id }) => league_id)]).toEqual([1, ['b']]);
      db.exec('ROLLBACK');
    });
  });

  it('are counted by sport and status', () => {
    const count = createFacetCounter();
    const facets = withDatabase(folder.file('leagues.db'), (db) => count(db));
    expect(facets.sports).toEqual([
      { name: 'golf', leagues: 1, active: 0 },
      { name: 'soccer', leagues: 1, active: 1 },
    ]);
    expect(facets.statuses.map(({ name }) => name).sort()).toEqual(['active', 'inactive', 'removed']);
    withDatabase(folder.file('leagues.db'), (db) => {
      db.exec(`BEGIN; UPDATE leagues SET sport = 'golf'; INSERT INTO league_changes (run_id, at, league_id, kind, before, after)
        SELECT run_id, at, league_id, 'changed', after, after FROM league_changes LIMIT 1`);
      expect(count(db).sports).toMatchObject([{ name: 'golf', leagues: 2 }]);
      db.exec('ROLLBACK');
    });
  });
});
