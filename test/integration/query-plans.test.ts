import type Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDayCounter, readPolls, searchChanges } from '../../src/store/queries/changed-polls.ts';
import { createFacetCounter, listLeagues } from '../../src/store/queries/leagues.ts';
import { readIssues } from '../../src/store/queries/open-problems.ts';
import { createRejectionRows } from '../../src/store/tables/rejections.ts';
import { readRows, withDatabase } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { placeEmpty } from '../support/store.ts';

// Frequent queries must not become slower as leagues and polls accumulate. Checked by query plans, not by duration.

const AT = '2026-11-20T12:00:00.000Z';

let path = '';

beforeAll(async () => {
  const folder = makeFolder();
  path = folder.file('leagues.db');
  await placeEmpty(path);
  addLeague('a', null);
  addLeague('b', null);
  addLeague('c', AT);
  withDatabase(path, (db) =>
    db.exec(`INSERT INTO runs (kind, trigger, scope, started_at, finished_at, outcome, received, added, removed)
      VALUES ('leagues', 'start', 'all', '${AT}', '${AT}', 'changed', 3, 3, 0),
        ('leagues', 'schedule', 'all', '${AT}', '${AT}', 'held', 0, 0, 1),
        ('leagues', 'schedule', 'all', '${AT}', '${AT}', 'unchanged', 0, 0, 0),
        ('leagues', 'schedule', 'all', '${AT}', '${AT}', 'failed', 0, 0, 0),
        ('profile', 'schedule', NULL, '${AT}', '${AT}', 'changed', 1, 1, 0)`),
  );
  return () => folder[Symbol.dispose]();
});

function addLeague(id: string, removedAt: string | null): void {
  withDatabase(path, (db) => {
    db.prepare(
      `INSERT INTO leagues (league_id, league_name, sport, league_image, priority, status, first_seen_at, changed_at, removed_at, content_hash)
        VALUES (?, 'A', 's', 'i', 1, 'active', '${AT}', '${AT}', ?, 'h')`,
    ).run(id, removedAt);
    db.prepare(
      `INSERT INTO league_changes (run_id, at, league_id, kind, after) VALUES (1, '${AT}', ?, 'added', '{}')`,
    ).run(id);
  });
}

/** The query plans of all statements of `work`, one line per step. */
function plansOf(work: (db: Database.Database) => unknown): readonly string[] {
  const statements: string[] = [];
  withDatabase(path, work, { verbose: (sql) => statements.push(String(sql)) });
  return statements.map((sql) =>
    readRows(path, `EXPLAIN QUERY PLAN ${sql}`)
      .map(({ detail }) => detail)
      .join('\n'),
  );
}

/** Reads rows of the table, not only an index. */
const reading = (table: string): RegExp => new RegExp(`(SCAN|SEARCH) ${table}(?! USING COVERING INDEX)`);

it('freshness counts leagues without reading their rows', () => {
  const [plan] = plansOf((db) => db.prepare('SELECT * FROM freshness').all());
  expect(plan).not.toMatch(reading('leagues'));
  expect(plan).toContain('rejected_leagues_open');
});

it('outages finds each series of failed polls in an index, however many polls it has', () => {
  const [plan] = plansOf((db) => db.prepare('SELECT * FROM outages').all());
  expect(plan).not.toMatch(/SCAN runs/);
  expect(plan?.match(/USING COVERING INDEX runs_failed/g)).toHaveLength(4);
});

describe('the status page', () => {
  it('reads a year of changes from an index of the polls that changed something', () => {
    const [, plan] = plansOf((db) => createDayCounter()(db, Date.parse(AT)));
    expect(plan).toContain('SEARCH runs USING COVERING INDEX runs_with_changes');
  });

  it('counts all listed leagues without reading their rows', () => {
    const [plan] = plansOf((db) => listLeagues(db, {}, { page: 1, limit: 50 }));
    expect(plan).not.toMatch(reading('leagues'));
    expect(withDatabase(path, (db) => listLeagues(db, {}, { page: 1, limit: 1 })).total).toBe(2);
  });

  it('reads only open rejections', () => {
    const plans = plansOf(readIssues).filter((plan) => plan.includes('rejected_leagues'));
    expect(plans).toHaveLength(2);
    for (const plan of plans) expect(plan).toContain('USING INDEX rejected_leagues_open');
  });

  it('finds the polls that changed something in an index, newest first', () => {
    const limits = { maxChanges: 100, foldAbove: 20 };
    for (const filter of [{}, { kind: 'removed', day: AT.slice(0, 10) }, { older: 2 }] as const) {
      const [plan] = plansOf((db) => readPolls(db, filter, limits));
      expect(plan).toMatch(/(SCAN|SEARCH) runs USING (COVERING )?INDEX runs_with_changes/);
      expect(plan).not.toContain('TEMP B-TREE');
    }
  });

  it('searches the feed from its end, or from that of a league or a day, without sorting it', () => {
    for (const search of [{ sport: 's' }, { league: 'a' }, { day: AT.slice(0, 10), field: 'status' }, { older: 2 }]) {
      const [plan] = plansOf((db) => searchChanges(db, search, 100));
      expect(plan).toMatch(/(SCAN|SEARCH) league_changes USING INDEX league_changes_by_(time|league)/);
      expect(plan).not.toContain('B-TREE FOR ORDER BY');
    }
  });

  it('counts the leagues of each sport and status again once a league has changed, and not before', () => {
    const count = createFacetCounter();
    const counted = withDatabase(path, count);
    expect(counted).toEqual({
      sports: [{ name: 's', leagues: 2, active: 2 }],
      statuses: [
        { name: 'active', leagues: 2 },
        { name: 'removed', leagues: 1 },
      ],
    });
    expect(withDatabase(path, count)).toBe(counted);
    addLeague('d', null);
    expect(withDatabase(path, count).sports).toEqual([{ name: 's', leagues: 3, active: 3 }]);
  });
});

it('a poll reads only open rejections', () => {
  const settle = (db: Database.Database): void => {
    createRejectionRows(drizzle({ client: db })).update([], 'all', { runId: 1, at: AT });
  };
  const [plan] = plansOf(settle);
  expect(plan).toContain('USING INDEX rejected_leagues_open');
});
