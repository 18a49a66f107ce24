import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { beforeAll, describe, expect, it } from 'vitest';
import * as schema from '../../src/store/schema.ts';
import { execute, readRows, withDatabase } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { placeEmpty } from '../support/store.ts';

const INSTANT = '2026-11-20T12:00:00.000Z';
const VIEWS = [
  'about',
  'active_leagues',
  'attention',
  'freshness',
  'held_leagues',
  'last_polls',
  'league_field_changes',
  'league_versions',
  'outages',
];
const FIELDS = `league_id, league_name, sport, league_image, priority, status, sport_db_id, active_season_type,
  active_year, external_id, external_odds_id, default_markets, default_tournaments, rankings, active_poll, state, city,
  create_datetime, last_update_datetime`.split(/,\s*/);

let path = '';

beforeAll(async () => {
  const folder = makeFolder();
  path = folder.file('leagues.db');
  await placeEmpty(path);
  execute(path, SAMPLE);
  return () => folder[Symbol.dispose]();
});

const SAMPLE = `
  INSERT INTO leagues (league_id, league_name, sport, league_image, priority, status, first_seen_at, changed_at, content_hash)
    VALUES ('a', 'A', 's', 'i', 1, 'active', '${INSTANT}', '${INSTANT}', 'h');
  INSERT INTO players (player_id, first_seen_at, changed_at) VALUES ('p', '${INSTANT}', '${INSTANT}');
  INSERT INTO league_changes (run_id, at, league_id, kind, after) VALUES (1, '${INSTANT}', 'a', 'added', '{"league_id":"a"}');
  INSERT INTO runs (kind, trigger, scope, started_at, finished_at, outcome)
    VALUES ('leagues', 'manual', 'all', '${INSTANT}', '${INSTANT}', 'unchanged');
  INSERT INTO logins (at, outcome, reason) VALUES ('${INSTANT}', 'ok', 'manual');
  INSERT INTO rejected_leagues (first_run_id, position, problems, raw, first_seen_at, raw_hash, scope)
    VALUES (1, 0, '[]', '1', '${INSTANT}', 'h', 'all');
  INSERT INTO held_removals (league_id, first_run_id, held_since, accepted_at) VALUES ('a', 1, '${INSTANT}', NULL);
  INSERT INTO drift VALUES ('leagues[].x', 'unknown-field', 'string', 1, '${INSTANT}', 'a');`;

/** How SQLite responds to a statement of an outside tool, which is rolled back in any case. */
function attempt(sql: string): string {
  return withDatabase(path, (db) => {
    db.exec('BEGIN');
    try {
      db.exec(sql);
      return 'done';
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : 'thrown';
    } finally {
      db.exec('ROLLBACK');
    }
  });
}

function columnsOf(table: string): readonly string[] {
  return readRows(path, `SELECT name FROM pragma_table_xinfo('${table}')`).map(({ name }) => String(name));
}

const declared = Object.values(schema)
  .filter((value) => value instanceof SQLiteTable)
  .map((table) => getTableConfig(table));

describe('the migrated schema', () => {
  it('has the tables of src/store/schema.ts and no other', () => {
    const tables = readRows(path, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
      .map(({ name }) => String(name))
      .filter((name) => !name.startsWith('sqlite_'));
    expect(tables.toSorted()).toEqual(declared.map(({ name }) => name).toSorted());
  });

  it.each(declared.map((table) => [table.name, table] as const))(
    'has in %s the columns of src/store/schema.ts',
    (name, table) => {
      const found = readRows(path, `SELECT name, type, "notnull", pk FROM pragma_table_xinfo('${name}') ORDER BY cid`);
      const expected = table.columns.map((column) => ({
        name: column.name,
        type: column.getSQLType().toUpperCase(),
        notnull: Number(column.notNull),
      }));
      expect(found.map(({ name, type, notnull, pk }) => ({ name, type, notnull: pk === 0 ? notnull : 1 }))).toEqual(
        expected.map((column) => ({ ...column, notnull: isKey(name, column.name) ? 1 : column.notnull })),
      );
    },
  );

  it('has the indexes of src/store/schema.ts and no other', () => {
    const found = readRows(path, "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL");
    const expected = declared.flatMap(({ indexes, columns }) => [
      ...indexes.map(({ config }) => config.name),
      ...columns.filter(({ isUnique }) => isUnique).map(({ uniqueName }) => uniqueName),
    ]);
    expect(found.map(({ name }) => name).toSorted()).toEqual(expected.toSorted());
  });

  it('has only STRICT tables', () => {
    const loose = readRows(
      path,
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0",
    );
    expect(loose.filter(({ name }) => !String(name).startsWith('sqlite_'))).toEqual([]);
  });

  it('has the views of the contract', () => {
    const views = readRows(path, "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name");
    expect(views).toEqual(VIEWS.map((name) => ({ name })));
  });

  it('has the 19 fields of the interface in leagues, then the columns of the contract', () => {
    const own = ['extra', 'first_seen_at', 'changed_at', 'removed_at', 'content_hash'];
    expect(columnsOf('leagues')).toEqual([...FIELDS, ...own]);
  });

  it.each([
    ['league_changes', 'seq run_id at league_id kind before after'],
    [
      'runs',
      `id kind trigger scope started_at finished_at outcome attempts http_status body_bytes received added changed
       unchanged restored rejected duplicates removed held error_kind error_message service_message service_timestamp
       etag last_modified not_before stale_at duration_ms unusual_change fingerprint program_version quiet_fields`,
    ],
    ['logins', 'id at outcome reason expires_at clock_skew_ms error_message not_before fingerprint run_id'],
    [
      'players',
      'player_id username email type verified profile_pic first_name last_name premium_items extra first_seen_at changed_at',
    ],
    ['rejected_leagues', 'id first_run_id league_id position problems raw first_seen_at resolved_at raw_hash scope'],
    ['held_removals', 'league_id first_run_id held_since accepted_at guard_since reason'],
    ['held_leagues', 'league_id league_name held_since accepted_at reason'],
    ['attention', 'since what count summary what_to_do'],
    ['drift', 'field kind detail first_run_id first_seen_at example_league_id'],
    ['league_versions', `${FIELDS.join(' ')} extra valid_from valid_to`],
    ['league_field_changes', 'at league_id league_name field old_value new_value kind'],
    [
      'freshness',
      'last_success_at age_seconds last_outcome consecutive_failures live_leagues listed_leagues removed_leagues held_removals open_rejections stale_at',
    ],
    ['active_leagues', `${FIELDS.join(' ')} extra held`],
    ['outages', 'since until last_good_at next_good_at failed_polls stale_since error_message service_message'],
  ])('has in %s the columns that the contract publishes', (table, names) => {
    expect(columnsOf(table)).toEqual(expect.arrayContaining(names.split(/\s+/)));
  });
});

function isKey(table: string, column: string): boolean {
  const rows = readRows(path, `SELECT pk FROM pragma_table_xinfo('${table}') WHERE name = '${column}'`);
  return rows[0]?.pk !== 0;
}

const JSON_COLUMNS = [
  ['leagues', 'default_markets'],
  ['leagues', 'extra'],
  ['players', 'premium_items'],
  ['players', 'extra'],
  ['rejected_leagues', 'problems'],
  ['rejected_leagues', 'raw'],
  ['runs', 'unusual_change'],
] as const;
const FLAGS = [
  ['leagues', 'default_tournaments'],
  ['leagues', 'rankings'],
  ['players', 'verified'],
] as const;
/** The timestamps of the tables that have a row in the sample and may be changed. */
const INSTANTS = declared
  .filter(({ name }) => new RegExp(`INSERT INTO ${name}\\b`).test(SAMPLE) && name !== 'league_changes')
  .flatMap(({ name, columns }) => columns.map((column) => [name, column.name] as const))
  .filter(([, column]) => /(^|_)(at|since|before)$/.test(column));

describe('an outside tool', () => {
  it.each(JSON_COLUMNS)('cannot put into %s.%s what is no JSON', (table, column) => {
    for (const text of ['', 'nope', '{', "{'a':1}", '[1,]'])
      expect(attempt(`UPDATE ${table} SET ${column} = '${text.replaceAll("'", "''")}'`), text).toMatch(
        /^SQLITE_CONSTRAINT/,
      );
  });

  it.each([
    ['leagues', 'extra', '[]'],
    ['leagues', 'extra', '1'],
    ['players', 'extra', 'null'],
    ['rejected_leagues', 'problems', '{}'],
  ])('cannot put into %s.%s the JSON %s, which has the wrong shape', (table, column, text) => {
    expect(attempt(`UPDATE ${table} SET ${column} = '${text}'`)).toBe('SQLITE_CONSTRAINT_CHECK');
  });

  it.each(FLAGS)('cannot put into the flag %s.%s anything but 0, 1 and NULL', (table, column) => {
    for (const value of ['7', '-1', '0.5', "'true'"])
      expect(attempt(`UPDATE ${table} SET ${column} = ${value}`), value).toMatch(/^SQLITE_CONSTRAINT/);
    for (const value of ['0', '1', 'NULL']) expect(attempt(`UPDATE ${table} SET ${column} = ${value}`)).toBe('done');
  });

  it.each(INSTANTS)('cannot put another format into the timestamp %s.%s', (table, column) => {
    for (const value of ['yesterday', '2026-11-20', '2026-11-20 12:00:00', '2026-11-20T12:00:00Z', `${INSTANT} `, ''])
      expect(attempt(`UPDATE ${table} SET ${column} = '${value}'`), value).toBe('SQLITE_CONSTRAINT_CHECK');
    expect(attempt(`UPDATE ${table} SET ${column} = '${INSTANT}'`)).toBe('done');
  });

  it.each(["'abc'", "'3'", 'NULL', "x'00'", "''"])('cannot put %s into the priority', (value) => {
    expect(attempt(`UPDATE leagues SET priority = ${value}`)).toMatch(/^SQLITE_CONSTRAINT/);
  });

  it.each(['3', '1.5', '-7', '9007199254740993', '9223372036854775807'])('can put the number %s there', (value) => {
    expect(attempt(`UPDATE leagues SET priority = ${value}`)).toBe('done');
  });

  it.each([
    "UPDATE leagues SET league_id = ''",
    'UPDATE leagues SET league_id = NULL',
    "UPDATE leagues SET league_name = x'41'",
    'UPDATE leagues SET sport = NULL',
    "UPDATE leagues SET create_datetime = x'41'",
    "UPDATE runs SET outcome = 'great'",
    'UPDATE runs SET scope = NULL',
    'UPDATE runs SET received = 1',
    'UPDATE runs SET attempts = -1',
    "UPDATE drift SET kind = 'odd'",
    "INSERT INTO league_changes (run_id, at, league_id, kind) VALUES (1, '2026-11-20T12:00:00.000Z', 'a', 'changed')",
    "INSERT INTO league_changes (run_id, at, league_id, kind, after) VALUES (1, '2026-11-20T12:00:00.000Z', 'a', 'added', '{')",
    "INSERT INTO league_changes (run_id, at, league_id, kind, after) VALUES (1, 'now', 'a', 'added', '{}')",
  ])('is refused: %s', (sql) => {
    expect(attempt(sql)).toMatch(/^SQLITE_CONSTRAINT/);
  });

  it.each([
    "UPDATE league_changes SET league_id = 'b'",
    'DELETE FROM league_changes',
    'REPLACE INTO league_changes SELECT * FROM league_changes',
    `REPLACE INTO league_changes SELECT seq, run_id, at, 'other', kind, before, after FROM league_changes`,
    'INSERT OR IGNORE INTO league_changes SELECT * FROM league_changes',
  ])('cannot rewrite the feed: %s', (sql) => {
    expect(attempt(sql)).toBe('SQLITE_CONSTRAINT_TRIGGER');
  });

  it.each(['DELETE FROM leagues', "DELETE FROM leagues WHERE league_id = 'a'"])('cannot delete leagues: %s', (sql) => {
    expect(attempt(sql)).toBe('SQLITE_CONSTRAINT_TRIGGER');
  });
});
