import { copyFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectMirrored } from './compare.ts';
import { connectAs, createPostgres, type Postgres, skipWithoutPostgres, waitForBlocked } from './postgres.ts';
import { change, expectToFollow, setUpMirrored } from './worker.ts';

skipWithoutPostgres();

const RELATIONS = `SELECT relname AS name, relkind AS kind, obj_description(oid) AS comment FROM pg_class
  WHERE relnamespace = 'league_sync'::regnamespace
  UNION ALL SELECT conname, 'c', pg_get_constraintdef(oid) FROM pg_constraint
  WHERE connamespace = 'league_sync'::regnamespace ORDER BY name, kind`;

/** A mirror of a later state than that of the file. */
async function setUpRestored(postgres: Postgres) {
  const bench = await setUpMirrored(postgres);
  await bench.run(['sync']);
  const copy = `${bench.folder}/copy.db`;
  await bench.run(['backup', copy]);
  change(bench, 9, 55);
  await bench.run(['sync']);
  expect((await bench.run(['mirror'])).code).toBe(0);
  copyFileSync(copy, bench.database);
  return bench;
}

describe('mirror rebuild', () => {
  it('makes the mirror of a restored file, with the same names, comments and grants', async () => {
    const postgres = await createPostgres();
    const bench = await setUpRestored(postgres);
    const { query, name } = postgres;
    const reader = `${name}_reader`;
    await query(`CREATE ROLE ${reader}`);
    await query(`GRANT SELECT ON league_sync.leagues, league_sync.freshness TO ${reader} WITH GRANT OPTION`);
    await query(`GRANT SELECT (seq, at) ON league_sync.league_changes TO ${reader}, PUBLIC`);
    await query(`ALTER DEFAULT PRIVILEGES FOR ROLE ${name} GRANT SELECT ON TABLES TO ${reader}`);
    const grants = `SELECT relname, relacl::text AS acl, (SELECT string_agg(attname || attacl::text, ' ') FROM pg_attribute
      WHERE attrelid = pg_class.oid) AS columns FROM pg_class
      WHERE relnamespace = 'league_sync'::regnamespace AND relkind IN ('r', 'v') ORDER BY relname`;
    const before = { relations: await query(RELATIONS), grants: await query(grants) };
    const { code, stderr } = await bench.run(['mirror', 'rebuild']);
    expect([code, stderr]).toEqual([0, '']);
    await expectMirrored(bench.database, query);
    expect(await query(RELATIONS)).toEqual(before.relations);
    const bare = (rows: typeof before.grants) =>
      rows.map((row) => ({ ...row, acl: String(row.acl).replace(/^null$/, '') }));
    expect(withoutOwner(bare(await query(grants)), name)).toEqual(withoutOwner(bare(before.grants), name));
    await query(`DROP OWNED BY ${reader}`);
    await query(`DROP ROLE ${reader}`);
    change(bench, 3, 66);
    await bench.run(['sync']);
    expect((await bench.run(['mirror'])).code).toBe(0);
    await expectMirrored(bench.database, query);
  });

  it('fails and changes nothing if somebody’s view depends on the mirror', async () => {
    const postgres = await createPostgres();
    const bench = await setUpRestored(postgres);
    await postgres.query('CREATE VIEW public.mine AS SELECT count(*) FROM league_sync.leagues');
    const before = [await postgres.query(RELATIONS), await postgres.query('TABLE league_sync.mirror_state')];
    const { code, stderr } = await bench.run(['mirror', 'rebuild']);
    expect(code).toBe(74);
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain('view public.mine depends on table leagues');
    expect([await postgres.query(RELATIONS), await postgres.query('TABLE league_sync.mirror_state')]).toEqual(before);
  });

  it('waits for a reader that is in a transaction, and meanwhile a second one fails', async () => {
    const postgres = await createPostgres();
    const bench = await setUpRestored(postgres);
    const reader = await connectAs(postgres.port, postgres.name);
    await reader.query('BEGIN; SELECT count(*) FROM league_sync.leagues');
    const rebuilding = bench.run(['mirror', 'rebuild']);
    await waitForBlocked(postgres);
    // Longer than one attempt.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    const second = await bench.run(['mirror', 'rebuild']);
    expect([second.code, second.stderr.includes('lock timeout')]).toEqual([1, true]);
    await reader.query('COMMIT');
    expect((await rebuilding).code).toBe(0);
    await reader.end();
    await expectMirrored(bench.database, postgres.query);
  });

  it('can be called while a worker follows', async () => {
    const postgres = await createPostgres();
    const bench = await setUpMirrored(postgres);
    const worker = bench.start(['run'], { LEAGUE_SYNC_SCHEDULE: '* * * * * *' });
    await worker.waitForPoll('changed');
    for (let round = 0; round < 2; round += 1) {
      change(bench, 10, round);
      const { code, stderr } = await bench.run(['mirror', 'rebuild']);
      expect([code, stderr]).toEqual([0, '']);
    }
    change(bench, 10, 4_321);
    const changed = () => bench.rows('SELECT count(*) AS leagues FROM leagues WHERE priority = 4321');
    await expect.poll(changed, { timeout: 20_000 }).toEqual([{ leagues: 10 }]);
    await expectToFollow(bench, postgres);
    expect((await worker.stop()).code).toBe(0);
  });
});

type Grants = readonly Readonly<Record<string, unknown>>[];

/** The owner's own rights are written out only where somebody else has any. */
function withoutOwner(rows: Grants, owner: string): Grants {
  return rows.map((row) => ({
    ...row,
    acl: String(row.acl)
      .replace(new RegExp(`${owner}=\\w+/\\w+,?`), '')
      .replace(/^\{\}$/, ''),
  }));
}
