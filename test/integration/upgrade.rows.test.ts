import { copyFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createCopyProcess } from '../../src/outputs/publish-copy.ts';
import { findPackage } from '../../src/package.ts';
import { readMigrations } from '../../src/store/migrate.ts';
import { dumpTables, execute, type Row, readRows } from '../support/database.ts';
import { type Folder, makeFolder } from '../support/folder.ts';
import { PROGRAM } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';
import { type Bench, openBench } from '../support/worker-resources.ts';

/** The kinds of rows that the stored database lacks. */
const MORE_ROWS = `
  UPDATE held_removals SET guard_since = '2026-11-21T08:00:00.000Z';
  UPDATE held_removals SET accepted_at = '2026-11-22T12:00:00.000Z' WHERE rowid % 2 = 0;
  UPDATE rejected_leagues SET resolved_at = NULL WHERE id % 2 = 0;
  INSERT INTO rejected_leagues (first_run_id, league_id, position, problems, raw, first_seen_at, raw_hash, scope)
    VALUES (9, NULL, 7, '[{"path":"","message":"is not an object"}]', '9007199254740993', '2026-11-22T10:44:43.320Z', 'h', 'active');
  INSERT INTO drift VALUES
    ('leagues[].sport', 'missing-field', 'text', 9, '2026-11-22T10:44:43.320Z'),
    ('message', 'unexpected-value', 'list', 9, '2026-11-22T10:44:43.320Z');
  INSERT INTO leagues (league_id, league_name, sport, league_image, priority, status, create_datetime, last_update_datetime,
      extra, first_seen_at, changed_at, removed_at, content_hash)
    VALUES ('numbers', 'Zahlen · 数', '', '', 9223372036854775807, 'active', 1700000000, 1.5, '{"a":9007199254740993}',
      '2026-11-22T10:44:38.477Z', '2026-11-22T10:44:43.320Z', '2026-11-22T10:44:43.320Z', 'h');
  INSERT INTO players (player_id, verified, premium_items, extra, first_seen_at, changed_at)
    VALUES ('p', 0, '[1]', '{"b":null}', '2026-11-22T10:44:38.477Z', '2026-11-22T10:44:38.477Z');
  INSERT INTO logins (at, outcome, reason, clock_skew_ms, error_message, not_before, fingerprint) VALUES
    ('2026-11-22T10:44:46.000Z', 'failed', 'due', NULL, 'The service answered with 503.', '2026-11-22T10:50:00.000Z', 'f'),
    ('2026-11-22T10:44:47.000Z', 'refused', 'rejected-token', -1, 'Invalid username or password', NULL, NULL);
  INSERT INTO runs (kind, trigger, scope, started_at, finished_at, outcome, attempts, http_status, error_kind, error_message,
      service_message, etag, last_modified, not_before, fingerprint, program_version) VALUES
    ('leagues', 'catch-up', 'inactive', '2026-11-22T10:44:46.000Z', '2026-11-22T10:44:47.000Z', 'failed', 4, 503, 'status',
      'The service answered with 503.', 'Try later', 'W/"1"', 'Sun, 22 Nov 2026 10:00:00 GMT',
      '2026-11-22T10:50:00.000Z', 'f', '0.1.0'),
    ('profile', 'start', NULL, '2026-11-22T10:44:48.000Z', '2026-11-22T10:44:48.500Z', 'interrupted', 1, NULL, NULL,
      'The worker was stopped.', NULL, NULL, NULL, NULL, 'f', '0.1.0'),
    ('leagues', 'schedule', 'all', '2026-11-22T10:44:49.000Z', NULL, 'running', 0, NULL, NULL, NULL, NULL, NULL, NULL,
      NULL, 'f', '0.1.0');`;

/** The columns that version 0.1.0 did not have. */
const NEW_COLUMNS: Readonly<Record<string, Row>> = {
  runs: { stale_at: null, quiet_fields: null, unusual_change: null, failures: 0n, good_run_id: null },
  logins: { run_id: null },
  held_removals: { reason: null },
  drift: { example_league_id: null },
};

type Dump = ReturnType<typeof dumpTables>;

/** A database of version 0.1.0 in this folder. */
function placeOld(folder: Folder, sql = ''): string {
  const path = folder.file('leagues.db');
  copyFileSync('test/fixtures/schema-1.db', path);
  execute(path, sql);
  return path;
}

/** A worker on the database in this folder, which makes its copy like the built program. */
function start(folder: Folder, { url }: Service): Promise<Bench> {
  const copy = createCopyProcess({ program: [process.execPath, PROGRAM], environment: process.env, pid: process.pid });
  return openBench({ folder, url, copy, settings: { STALE_AFTER: '1h' } });
}

/** The rows after the upgrade, of tables that neither the migration nor the program writes for itself. */
function withNewColumns(before: Dump): Dump {
  const { data_dictionary, schema_migrations, ...tables } = before;
  const withRuns = { ...tables, runs: tables.runs?.map((row) => ({ ...row, duration_ms: durationOf(row) })) ?? [] };
  return Object.fromEntries(
    Object.entries(withRuns).map(([table, rows]) => [table, rows.map((row) => ({ ...row, ...NEW_COLUMNS[table] }))]),
  );
}

function durationOf({ started_at, finished_at }: Row): bigint | null {
  return finished_at === null ? null : BigInt(Date.parse(String(finished_at)) - Date.parse(String(started_at)));
}

/** Replaces rows by their id. */
function replaceRows(rows: readonly Row[] = [], changes: ReadonlyMap<unknown, Row>): readonly Row[] {
  return rows.map((row) => ({ ...row, ...changes.get(row.id) }));
}

describe('a database of version 0.1.0', () => {
  it('keeps every value of every row', async () => {
    using folder = makeFolder();
    const path = placeOld(folder, MORE_ROWS);
    const before = dumpTables(path);
    for (const [table, rows] of Object.entries(before)) expect(rows.length, table).toBeGreaterThan(0);
    await using service = await startService();
    await using bench = await start(folder, service);
    expect(bench.place.interrupted).toBe(1);

    const { data_dictionary, schema_migrations, database_identity, ...after } = dumpTables(path);
    const expected = withNewColumns(before);
    const polls = expected.runs?.filter(({ kind }) => kind === 'leagues') ?? [];
    const goodBefore = (index: number) =>
      polls.slice(0, index).findLast(({ outcome }) => /^(un)?changed|held$/.test(String(outcome)));
    const lastGood = goodBefore(polls.length);
    const running = expected.runs?.find(({ outcome }) => outcome === 'running');
    const goodUntil = new Date(Date.parse(String(lastGood?.finished_at)) + 3_600_000).toISOString();
    const interrupted = { outcome: 'interrupted', error_message: expect.stringContaining('stopped during this poll') };
    const changes = new Map<unknown, Row>([
      [lastGood?.id, { stale_at: goodUntil }],
      [running?.id, interrupted],
    ]);
    // No two of them follow each other.
    for (const [index, { id, outcome }] of polls.entries())
      if (outcome === 'failed') changes.set(id, { failures: 1n, good_run_id: goodBefore(index)?.id });
    const added = { poll_requests: [], webhook: [], outputs: [] };
    expect(after).toEqual({ ...expected, runs: replaceRows(expected.runs, changes), ...added });
    const migrations = readMigrations(findPackage().migrations)
      .slice(1)
      .map(({ name, sha256 }, index) => ({ version: BigInt(index + 2), name, sha256, applied_at: expect.any(String) }));
    expect(schema_migrations).toEqual([...(before.schema_migrations ?? []), ...migrations]);
    expect(data_dictionary).not.toEqual(before.data_dictionary);
    expect(database_identity).toEqual([{ id: expect.stringMatching(/^[0-9a-f]{32}$/), base_url: null }]);
  });

  it('keeps what another program has beside it, and does not set off its triggers', async () => {
    using folder = makeFolder();
    const path = placeOld(
      folder,
      `CREATE TABLE notes (run_id INTEGER REFERENCES runs (id) ON DELETE CASCADE, note TEXT);
       INSERT INTO notes VALUES (1, 'the first poll');
       CREATE TRIGGER noted AFTER INSERT ON runs WHEN new.id < 10 BEGIN INSERT INTO notes VALUES (new.id, 'new'); END;`,
    );
    await using service = await startService();
    await using _ = await start(folder, service);
    expect(readRows(path, 'SELECT * FROM notes')).toEqual([{ run_id: 1, note: 'the first poll' }]);
  });
});
