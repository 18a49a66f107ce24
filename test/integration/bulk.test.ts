import type Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { createBulk, MANY_LEAGUES } from '../../src/store/bulk.ts';
import { startScriptedService } from '../support/scripted-service.ts';
import { makeFolder, openBench, readRows, withDatabase } from '../support/workplace.ts';

const SCHEMA = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name';

async function withFile(work: (path: string) => void): Promise<void> {
  using folder = makeFolder();
  await using service = await startScriptedService();
  const path = await (async () => {
    await using bench = await openBench({ folder, url: service.url });
    return bench.path;
  })();
  work(path);
}

/** Of the feed, its indexes and its triggers. */
function namesOn(client: Database.Database): readonly unknown[] {
  return client.prepare("SELECT name FROM sqlite_schema WHERE tbl_name = 'league_changes' ORDER BY name").pluck().all();
}

/** Loads in a transaction, as the store does. */
function load<T>(client: Database.Database, leagues: number, work: () => T): T {
  const bulk = createBulk(client);
  return bulk.around(() => client.transaction(() => bulk.load(leagues, work))());
}

describe('a bulk load', () => {
  it.each<[number, number]>([
    [124, -16_000],
    [100_000, -200_000],
    [10_000_000, -524_288],
  ])('of %d leagues has a cache of %d, and the usual one afterwards', async (leagues, cacheSize) => {
    await withFile((path) =>
      withDatabase(path, (client) => {
        const room = () => client.pragma('cache_size', { simple: true });
        const usual = room();
        expect(load(client, leagues, room)).toBe(cacheSize);
        expect(room()).toBe(usual);
      }),
    );
  });

  it('that fails leaves the usual cache, and all indexes', async () => {
    await withFile((path) => {
      const before = readRows(path, SCHEMA);
      withDatabase(path, (client) => {
        const room = () => client.pragma('cache_size', { simple: true });
        const usual = room();
        const failing = (): never => {
          throw new Error('the disk is full');
        };
        expect(() => load(client, MANY_LEAGUES, failing)).toThrow('the disk is full');
        expect(room()).toBe(usual);
      });
      expect(readRows(path, SCHEMA)).toEqual(before);
    });
  });

  it('is made without the indexes of the feed, which are there again afterwards, as is what guards it', async () => {
    await withFile((path) => {
      const before = readRows(path, SCHEMA);
      withDatabase(path, (client) => {
        const during = load(client, MANY_LEAGUES, () => namesOn(client));
        expect(during).toEqual(['league_changes', 'league_changes_no_delete', 'league_changes_no_update']);
      });
      expect(readRows(path, SCHEMA)).toEqual(before);
    });
  });

  it('lets an index be that others have put there', async () => {
    await withFile((path) => {
      withDatabase(path, (client) => {
        client.exec('CREATE INDEX mine ON league_changes (kind)');
        const during = load(client, MANY_LEAGUES, () => namesOn(client));
        expect(during).toContain('mine');
        expect(during).not.toContain('league_changes_by_league');
      });
    });
  });

  it.each(['leagues', 'league_changes'])('leaves the indexes where others have a trigger on %s', async (table) => {
    await withFile((path) => {
      withDatabase(path, (client) => {
        client.exec(`CREATE TRIGGER theirs AFTER INSERT ON ${table} BEGIN
          SELECT count(*) FROM league_changes INDEXED BY league_changes_by_league WHERE league_id = 'l1'; END`);
        const during = load(client, MANY_LEAGUES, () => namesOn(client));
        expect(during).toContain('league_changes_by_league');
      });
    });
  });

  it('leaves the indexes of a feed that is longer than what is added', async () => {
    await withFile((path) => {
      withDatabase(path, (client) => {
        client.exec(`INSERT INTO league_changes (seq, run_id, at, league_id, kind, after)
          VALUES (${MANY_LEAGUES + 1}, 1, '2026-01-01T00:00:00.000Z', 'l1', 'added', '{}')`);
        const indexes = () =>
          client.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'league_changes_by_%'").all();
        expect(load(client, MANY_LEAGUES, indexes)).toHaveLength(2);
      });
    });
  });
});
