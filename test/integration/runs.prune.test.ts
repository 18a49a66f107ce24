import { setTimeout as sleep } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { createRetention } from '../../src/worker/retention.ts';
import { createTestClock } from '../support/clock.ts';
import { holdForWriting, readRows, withDatabase } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { createTestLog } from '../support/log-lines.ts';
import { openTestStore } from '../support/store.ts';

const OLD = '2020-01-01T00:00:00.000Z';
const LIMIT = '2026-01-01T00:00:00.000Z';
const NOW = new Date().toISOString();
const NEW = '2026-06-01T00:00:00.000Z';
const DAY = 24 * 3_600_000;

type Run = {
  readonly kind?: string;
  readonly scope?: string | null;
  readonly outcome?: string;
  readonly at?: string;
  readonly added?: number;
  readonly not_before?: string | null;
};

function addLogins(db: Database.Database, times: readonly string[]): void {
  const login = db.prepare("INSERT INTO logins (at, outcome, reason) VALUES (?, 'ok', 'due')");
  for (const at of times) login.run(at);
}

/** Inserts runs and logins, numbered from 1, and returns the ids that pruning keeps. */
async function prune(runs: readonly Run[], more = '', logins: readonly string[] = []) {
  using folder = makeFolder();
  const path = folder.file('leagues.db');
  await using store = await openTestStore(path);
  withDatabase(path, (db) => {
    const insert =
      db.prepare(`INSERT INTO runs (kind, trigger, scope, started_at, finished_at, outcome, added, received, not_before)
      VALUES (@kind, 'schedule', @scope, @at, @at, @outcome, @added, @added, @not_before)`);
    for (const run of runs) {
      const kind = run.kind ?? 'leagues';
      const scope = kind === 'profile' ? null : 'all';
      insert.run({ kind, scope, outcome: 'unchanged', at: OLD, added: 0, not_before: null, ...run });
    }
    addLogins(db, logins);
    db.exec(more);
  });
  const added = readRows(path, 'SELECT count(*) AS logins FROM logins')[0]?.logins;
  const { deleted: loginsDeleted } = await store.write(() => store.prune.logins(0, LIMIT, NOW));
  const { deleted: runsDeleted } = await store.write(() => store.prune.runs(0, LIMIT, NOW));
  const deleted = { runs: runsDeleted, logins: loginsDeleted };
  const idsOf = (table: string) => readRows(path, `SELECT id FROM ${table} ORDER BY id`).map(({ id }) => id);
  expect(idsOf('runs')).toHaveLength(runs.length - deleted.runs);
  expect(idsOf('logins')).toHaveLength(Number(added) - deleted.logins);
  return { runs: idsOf('runs'), logins: idsOf('logins') };
}

const old: Run = {};
const failure: Run = { outcome: 'failed' };
const recent: Run = { at: NEW };

describe('pruning', () => {
  it('deletes runs from before the limit, good and bad, and none from after it', async () => {
    const interrupted = { outcome: 'interrupted' };
    expect((await prune([old, failure, interrupted, recent, { ...failure, at: NEW }, recent])).runs).toEqual([4, 5, 6]);
  });

  it('keeps the good run before failed ones that stay, since it tells since when the data was stale', async () => {
    expect((await prune([old, failure, { ...failure, at: NEW }, recent])).runs).toEqual([1, 3, 4]);
  });

  it('keeps the newest run, however old it is, so that its id is not given again', async () => {
    expect((await prune([old, failure, failure])).runs).toEqual([1, 3]);
  });

  it('keeps the last poll of the leagues, however old it is, as it counts the failures in a row', async () => {
    expect((await prune([old, failure, failure, { kind: 'profile', at: NEW }])).runs).toEqual([1, 3, 4]);
  });

  it('keeps the last good run of each kind and scope', async () => {
    const runs = [
      old,
      old,
      { scope: 'active' },
      { scope: 'active', outcome: 'held' },
      { kind: 'profile' },
      { kind: 'profile' },
      { ...failure, at: NEW },
    ];
    expect((await prune(runs)).runs).toEqual([2, 4, 6, 7]);
  });

  it('keeps runs that changes name', async () => {
    const change = `INSERT INTO league_changes (run_id, at, league_id, kind, after) VALUES (2, '${OLD}', 'a', 'added', '{}')`;
    expect((await prune([old, { outcome: 'changed', added: 1 }, old, recent], change)).runs).toEqual([2, 4]);
  });

  it.each([
    [
      'a rejection, even a resolved one',
      `INSERT INTO rejected_leagues (first_run_id, position, problems, raw, first_seen_at, resolved_at, raw_hash, scope)
        VALUES (2, 0, '[]', '1', '${OLD}', '${OLD}', 'h', 'all')`,
    ],
    [
      'a hold',
      `INSERT INTO held_removals (league_id, first_run_id, held_since, accepted_at) VALUES ('a', 2, '${OLD}', NULL)`,
    ],
    ['drift', `INSERT INTO drift VALUES ('x', 'unknown-field', 'string', 2, '${OLD}', NULL)`],
    ['a login', `INSERT INTO logins (at, outcome, reason, run_id) VALUES ('${NEW}', 'ok', 'due', 2)`],
  ])('keeps a run that %s names', async (_, sql) => {
    expect((await prune([old, old, old, recent], sql)).runs).toEqual([2, 4]);
  });

  it('deletes profile runs that changed something, which nothing names', async () => {
    const changed = { kind: 'profile', outcome: 'changed', added: 1 };
    expect((await prune([changed, changed, { ...changed, at: NEW }, recent])).runs).toEqual([3, 4]);
  });

  it('keeps a run whose Retry-After is not over, and one in progress', async () => {
    const paused = { ...failure, not_before: '2100-01-01T00:00:00.000Z' };
    const over = { ...failure, not_before: OLD };
    expect((await prune([paused, over, { outcome: 'running' }, recent])).runs).toEqual([1, 3, 4]);
  });

  it('deletes logins from before the limit, but never the newest', async () => {
    expect((await prune([], '', [OLD, OLD, NEW, NEW])).logins).toEqual([3, 4]);
    expect((await prune([], '', [OLD, OLD])).logins).toEqual([2]);
  });
});

it('the end of the worker waits for the rows that are being deleted', async () => {
  using folder = makeFolder();
  const path = folder.file('leagues.db');
  await using store = await openTestStore(path);
  withDatabase(path, (db) => addLogins(db, [OLD, NEW]));
  const clock = createTestClock();
  const retention = createRetention(clock.now() - Date.parse(LIMIT), { store, clock }, createTestLog().log);
  const writer = holdForWriting(path);
  retention.tick();
  await sleep(10);
  // Ends after the first attempt to delete rows has failed.
  setTimeout(() => writer.end(), 50);
  await retention[Symbol.asyncDispose]();
  expect(readRows(path, 'SELECT at FROM logins')).toEqual([{ at: NEW }]);
});

it('rows from when the clock was ahead do not keep the old ones behind them', async () => {
  using folder = makeFolder();
  const path = folder.file('leagues.db');
  await using store = await openTestStore(path);
  withDatabase(path, (db) => addLogins(db, [...Array<string>(1_000).fill('2100-01-01T00:00:00.000Z'), OLD, NEW]));
  const clock = createTestClock();
  await using retention = createRetention(clock.now() - Date.parse(LIMIT), { store, clock }, createTestLog().log);
  retention.tick();
  await expect.poll(() => readRows(path, `SELECT 1 FROM logins WHERE at = '${OLD}'`)).toEqual([]);
});

it.each([
  ['at the start', 0],
  ['after a step of the clock', 10_000 * DAY],
])('no run is deleted for a day if even the newest is old %s: the clock may be wrong', async (_, stepMs) => {
  using folder = makeFolder();
  const path = folder.file('leagues.db');
  await using store = await openTestStore(path);
  const [clock, { log, lines }] = [createTestClock(), createTestLog()];
  const at = stepMs === 0 ? OLD : new Date(clock.now()).toISOString();
  const runs = `INSERT INTO runs (kind, trigger, started_at, finished_at, outcome)
    VALUES ('profile', 'start', '${at}', '${at}', 'failed'), ('profile', 'start', '${at}', '${at}', 'failed')`;
  withDatabase(path, (db) => db.exec(runs));
  await using retention = createRetention(clock.now() - Date.parse(LIMIT), { store, clock }, log);
  const left = async (): Promise<unknown> => {
    retention.tick();
    await sleep(20);
    return readRows(path, 'SELECT count(*) AS n FROM runs')[0]?.n;
  };
  if (stepMs > 0) await left();
  clock.step(stepMs);
  await left();
  await clock.advance(DAY - 1);
  expect([await left(), lines[0]?.msg]).toEqual([2, expect.stringMatching(/^no runs are deleted today/)]);
  await clock.advance(1);
  await expect.poll(left).toBe(1);
});
