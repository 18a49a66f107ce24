import { describe, expect, it } from 'vitest';
import { dictionaryRows } from '../../src/store/data-dictionary.ts';
import { setUpSynced } from '../support/bench.ts';
import { execute } from '../support/database.ts';
import { expectMirrored } from './compare.ts';
import { createPostgres, skipWithoutPostgres } from './postgres.ts';

skipWithoutPostgres();

describe('the command mirror', () => {
  it('brings the mirror up to date after each sync, in a schema of any name', async () => {
    const postgres = await createPostgres();
    const schema = 'Leagues of "today", é';
    const env = { LEAGUE_SYNC_POSTGRES_URL: postgres.url, LEAGUE_SYNC_POSTGRES_SCHEMA: schema };
    const bench = await setUpSynced();
    const { code, stdout, stderr } = await bench.run(['mirror'], env);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^127\.0\.0\.1:\d+\/test_\w+ mirrors \S+ up to change 124 \(/);
    await expectMirrored(bench.database, postgres.query, { schema });
    expect((await bench.run(['mirror', 'rebuild'], env)).code).toBe(0);
    await bench.run(['profile']);
    await bench.run(['sync']);
    expect((await bench.run(['mirror'], env)).code).toBe(0);
    await expectMirrored(bench.database, postgres.query, { schema });
  });

  it('stores what PostgreSQL cannot hold in another form', async () => {
    const postgres = await createPostgres();
    const bench = await setUpSynced();
    const env = { LEAGUE_SYNC_POSTGRES_URL: postgres.url };
    execute(
      bench.database,
      `INSERT INTO drift (field, kind, detail, first_run_id, first_seen_at) VALUES
        ('leagues[].a' || char(0), 'unknown-field', 'text', 1, '2026-11-20T12:00:00.000Z'),
        ('leagues[].a' || char(65533), 'unknown-field', 'text', 1, '2026-11-20T12:00:00.000Z');
      INSERT INTO rejected_leagues (first_run_id, position, problems, raw, first_seen_at, raw_hash, scope) VALUES
        (1, 1, '[]', 'null', '2026-11-20T12:00:00.000Z', 'a', 'all'),
        (1, 2, '[{"path":"\\u0000"}]', '[1e200000,"\\ud800","\\\\u0000",1e-7]', '2026-11-20T12:00:00.000Z', 'b', 'all')`,
    );
    for (let times = 0; times < 2; times += 1) expect(await bench.run(['mirror'], env)).toMatchObject({ code: 0 });
    const raws = await postgres.query('SELECT raw, problems FROM league_sync.rejected_leagues ORDER BY id');
    expect(raws).toEqual([
      { raw: 'null', problems: '[]' },
      { raw: '["1e200000", "\ufffd", "\\\\u0000", 0.0000001]', problems: '[{"path": "\ufffd"}]' },
    ]);
    expect(await postgres.query('SELECT field FROM league_sync.drift')).toEqual([{ field: 'leagues[].a\ufffd' }]);
  });

  it('describes every table, view and column, in the types of PostgreSQL', async () => {
    const postgres = await createPostgres();
    const bench = await setUpSynced();
    expect((await bench.run(['mirror'], { LEAGUE_SYNC_POSTGRES_URL: postgres.url })).code).toBe(0);
    const rows = await postgres.query(`SELECT relname, attname, format_type(atttypid, atttypmod) AS type, attnotnull,
        col_description(attrelid, attnum) AS comment, obj_description(attrelid, 'pg_class') AS about, relkind
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      WHERE relnamespace = 'league_sync'::regnamespace AND relkind IN ('r', 'v') AND attnum > 0
      ORDER BY relname, attnum`);
    expect(rows.filter(({ comment, about }) => !comment || !about)).toEqual([]);
    const names = new Set(rows.map(({ relname }) => String(relname)));
    expect(names.size).toBe(14);
    const found = rows.map(({ relname, attname, type, attnotnull, comment, relkind }) =>
      [relname, attname, type, relkind === 'v' ? '' : attnotnull, comment].join(' | '),
    );
    const expected = dictionaryRows()
      .filter(
        ({ object, position, description }) => names.has(object) && position > 0 && !/^Internal/.test(description),
      )
      .map(({ object, object_type, column_name, type, nullable, description }) =>
        [object, column_name, TYPES[type ?? 'text'], object_type === 'view' ? '' : !nullable, description].join(' | '),
      );
    const columns = rows.filter(({ relname }) => relname === 'mirror_state').map(({ attname }) => attname);
    expect(columns).toEqual(['database', 'seq', 'at', 'mirrored_at', 'program_version']);
    const own = /^mirror_/;
    expect(found.filter((line) => !own.test(line)).sort()).toEqual(expected.sort());
  });
});

const TYPES = {
  text: 'text',
  integer: 'bigint',
  number: 'numeric',
  boolean: 'boolean',
  instant: 'timestamp with time zone',
  json: 'jsonb',
  any: 'text',
} as const;
