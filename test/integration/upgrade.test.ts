import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DatabaseError } from '../../src/errors.ts';
import { findPackage } from '../../src/package.ts';
import { tempPath } from '../../src/store/atomic-copy.ts';
import { readMigrations } from '../../src/store/migrate.ts';
import type { Store } from '../../src/store/store.ts';
import { addSettings, setUpFor } from '../support/bench.ts';
import { dumpTables, type Row, readExactRows, readRows, withDatabase } from '../support/database.ts';
import { type Folder, makeFolder } from '../support/folder.ts';
import { addMigration, makeLaterVersion, PRESENT_SCHEMA } from '../support/later-version.ts';
import { makeLeagues } from '../support/leagues.ts';
import { listLeagues, startService } from '../support/service.ts';
import { openTestStore } from '../support/store.ts';
import { rejectionOf } from '../support/unit-error.ts';
import { setUpBench } from '../support/worker-resources.ts';

const { migrations } = findPackage();
const FIXTURES = resolve(import.meta.dirname, '../fixtures');
const FIX =
  'If the migration is not released yet, rebuild the stored database: npm run build && node scripts/store-schema.ts. A released migration is never edited.';

/** A plausible migration: one more column, and its view recreated. */
const STEP = [
  'ALTER TABLE `leagues` ADD COLUMN `note` TEXT;',
  'DROP VIEW `active_leagues`;',
  "CREATE VIEW `active_leagues` AS SELECT league_id, league_name, note FROM leagues WHERE removed_at IS NULL AND status = 'active';",
];
const BROKEN_STEP = [...STEP, 'ALTER TABLE `no_such_table` ADD COLUMN `note` TEXT;'];

function newerMigrations(folder: Folder, name: string, statements = STEP): string {
  return addMigration(folder.file(name), statements);
}

function open(path: string, folder: string): Promise<Store> {
  return openTestStore(path, { migrations: folder });
}

async function openAndClose(path: string, folder = migrations) {
  await using store = await open(path, folder);
  return store.upgrade;
}

/** A database of the current schema with the rows of some polls. */
async function fill(folder: Folder): Promise<string> {
  await using bench = await setUpBench({}, { folder });
  for (const leagues of [makeLeagues(3), makeLeagues(3, { city: 'Ghent' }), makeLeagues(2)])
    expect((await bench.pollWith(leagues)).outcome).toBe('changed');
  await bench.pollProfile();
  return bench.path;
}

function versionOf(path: string): unknown {
  return withDatabase(path, (db) => db.pragma('user_version', { simple: true }), { readonly: true });
}

/** Rewritten at every start, so an upgrade does not keep it. */
const REWRITTEN = 'data_dictionary';

/** Every row of every table, with the queries that returned them. */
type Content = readonly { readonly table: string; readonly sql: string; readonly rows: readonly Row[] }[];

function contentOf(path: string): Content {
  return Object.entries(dumpTables(path))
    .filter(([table]) => table !== REWRITTEN)
    .map(([table, all]) => {
      const columns = Object.keys(all[0] ?? { rowid: 0 }).map((column) => `"${column}"`);
      const sql = `SELECT ${columns} FROM "${table}" ORDER BY ${columns}`;
      return { table, sql, rows: readExactRows(path, sql) };
    });
}

/** Expects every row of `before` in the database, in the old columns. */
function expectKept(path: string, before: Content): void {
  for (const { table, sql, rows } of before) {
    const kept = readExactRows(path, sql);
    // The only table that the upgrade itself adds to.
    if (table === 'schema_migrations') expect(kept).toEqual(expect.arrayContaining([...rows]));
    else expect(kept, table).toEqual(rows);
  }
}

describe('a database that holds something', () => {
  it('is brought to the newer schema with every row, and kept beside it as it was', async () => {
    using folder = makeFolder();
    const path = await fill(folder);
    const [before, dump] = [contentOf(path), dumpTables(path)];
    const copy = `${path}.schema-${PRESENT_SCHEMA}`;
    const newer = newerMigrations(folder, 'newer');
    expect(await openAndClose(path, newer)).toEqual({ from: PRESENT_SCHEMA, to: PRESENT_SCHEMA + 1, copy });

    expect(versionOf(path)).toBe(PRESENT_SCHEMA + 1);
    expectKept(path, before);
    expect(readRows(path, 'SELECT count(note) AS notes FROM active_leagues')).toEqual([{ notes: 0 }]);
    expect(readRows(path, 'SELECT version FROM schema_migrations ORDER BY version').at(-1)).toEqual({
      version: PRESENT_SCHEMA + 1,
    });
    expect(versionOf(copy)).toBe(PRESENT_SCHEMA);
    expect(dumpTables(copy)).toEqual(dump);
    for (const file of [path, copy])
      expect(readRows(file, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(readdirSync(folder.path).sort()).toEqual(['leagues.db', `leagues.db.schema-${PRESENT_SCHEMA}`, 'newer']);
  });

  it('is copied over the remains of a copy that was cut short', async () => {
    using folder = makeFolder();
    const path = await fill(folder);
    const [old, recent] = [1, 2].map(() => tempPath(`${path}.schema-${PRESENT_SCHEMA}`));
    const longAgo = new Date('2026-01-01');
    for (const file of [`${old}`, `${old}-journal`, `${recent}`, `${recent}-journal`]) {
      writeFileSync(file, 'half of a copy');
      if (file.startsWith(`${old}`)) utimesSync(file, longAgo, longAgo);
    }
    const before = contentOf(path);
    await openAndClose(path, newerMigrations(folder, 'newer'));
    expectKept(`${path}.schema-${PRESENT_SCHEMA}`, before);
    expect(readdirSync(folder.path).sort()).toEqual(['leagues.db', `leagues.db.schema-${PRESENT_SCHEMA}`, 'newer']);
  });

  it('and was left by a killed worker has its newest rows in the copy, too', async () => {
    using folder = makeFolder();
    using killed = makeFolder();
    const newer = newerMigrations(folder, 'newer');
    await using bench = await setUpBench();
    await bench.pollWith(makeLeagues(3));
    const path = killed.file('leagues.db');
    for (const suffix of ['', '-wal']) copyFileSync(`${bench.path}${suffix}`, `${path}${suffix}`);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    await openAndClose(path, newer);
    for (const file of [path, `${path}.schema-${PRESENT_SCHEMA}`]) {
      expect(readRows(file, 'SELECT count(*) AS n FROM leagues')).toEqual([{ n: 3 }]);
      expect(readRows(file, 'SELECT outcome FROM runs')).toEqual([{ outcome: 'changed' }]);
    }
    expect(versionOf(`${path}.schema-${PRESENT_SCHEMA}`)).toBe(PRESENT_SCHEMA);
    expect(readdirSync(killed.path).sort()).toEqual(['leagues.db', `leagues.db.schema-${PRESENT_SCHEMA}`]);
  });
});

it('a database without any run is brought to the newer schema without a copy', async () => {
  using folder = makeFolder();
  const path = folder.file('leagues.db');
  await openAndClose(path);
  const newer = newerMigrations(folder, 'newer');
  expect(await openAndClose(path, newer)).toBeUndefined();
  expect(versionOf(path)).toBe(PRESENT_SCHEMA + 1);
  expect(readdirSync(folder.path).sort()).toEqual(['leagues.db', 'newer']);
});

it('an upgrade that fails leaves the database as it was and the copy there, and a second try replaces the copy', async () => {
  using folder = makeFolder();
  const path = await fill(folder);
  const bytes = readFileSync(path);
  const before = dumpTables(path);
  const copy = `${path}.schema-${PRESENT_SCHEMA}`;
  const error = await rejectionOf(openAndClose(path, newerMigrations(folder, 'broken', BROKEN_STEP)));
  expect(error).toBeInstanceOf(DatabaseError);
  expect(String(error)).toContain(path);
  expect(readFileSync(path).equals(bytes)).toBe(true);
  expect(dumpTables(copy)).toEqual(before);
  expect(readdirSync(folder.path).sort()).toEqual(['broken', 'leagues.db', `leagues.db.schema-${PRESENT_SCHEMA}`]);

  const { ino } = statSync(copy);
  withDatabase(path, (db) =>
    db.exec(
      "INSERT INTO held_removals (league_id, first_run_id, held_since, accepted_at) VALUES ('x', 1, '2026-11-20T12:00:00.000Z', NULL)",
    ),
  );
  await openAndClose(path, newerMigrations(folder, 'newer'));
  expect(versionOf(path)).toBe(PRESENT_SCHEMA + 1);
  expect(statSync(copy).ino).not.toBe(ino);
  expect(readRows(copy, 'SELECT league_id FROM held_removals')).toEqual([{ league_id: 'x' }]);
  expect(versionOf(copy)).toBe(PRESENT_SCHEMA);
});

it('an upgrade says where the copy is and how long it took, and the old version refuses its file with 74', async () => {
  using folder = makeFolder();
  const path = await fill(folder);
  await using service = await startService({ leagues: listLeagues(makeLeagues(2)) });
  const bench = addSettings(setUpFor(service.url), { LEAGUE_SYNC_DATABASE: path });
  const through = makeLaterVersion(...STEP);
  const sync = ['sync', '--service-moved'];
  const upgraded = await bench.runProcess(sync, {}, { through });
  expect(upgraded.code).toBe(0);
  const line = upgraded.stderr.split('\n').find((text) => text.includes('the schema of the database'));
  const copy = `${path}.schema-${PRESENT_SCHEMA}`;
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    from: PRESENT_SCHEMA,
    to: PRESENT_SCHEMA + 1,
    copy,
    duration_ms: expect.any(Number),
    msg: expect.stringContaining(copy),
  });
  expect(existsSync(copy)).toBe(true);
  expect((await bench.runProcess(sync, {}, { through })).stderr).not.toContain('the schema of the database');
  expect(await bench.run(sync)).toMatchObject({ code: 74, stderr: expect.stringContaining('newer version') });
});

describe('the stored database of every schema so far', () => {
  const versions = readMigrations(migrations).map(({ version }) => version);
  const fixtureOf = (version: number): string => join(FIXTURES, `schema-${version}.db`);
  const recordedIn = (path: string): readonly Row[] =>
    readRows(path, 'SELECT version, name, sha256 FROM schema_migrations ORDER BY version');

  it.each(versions)('is there for schema %i, whose migrations are as they were when it was made', (version) => {
    expect(existsSync(fixtureOf(version)), `There is no ${fixtureOf(version)}. ${FIX}`).toBe(true);
    const shipped = readMigrations(migrations).slice(0, version);
    expect(recordedIn(fixtureOf(version)), FIX).toEqual(
      shipped.map(({ version: number, name, sha256 }) => ({ version: number, name, sha256 })),
    );
  });

  it.each(versions)('of schema %i is opened by the present version, with every row of every table', async (version) => {
    using folder = makeFolder();
    const path = folder.file('leagues.db');
    copyFileSync(fixtureOf(version), path);
    const before = contentOf(path);
    for (const { table, rows } of before) expect(rows.length, table).toBeGreaterThan(0);
    await openAndClose(path);
    expectKept(path, before);
    expect(versionOf(path)).toBe(PRESENT_SCHEMA);
    expect(readRows(path, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    const copies = version === PRESENT_SCHEMA ? [] : [`leagues.db.schema-${version}`];
    expect(readdirSync(folder.path).sort()).toEqual(['leagues.db', ...copies]);
  });
});
