import type { Row } from '../../support/database.ts';
import type { ModelBench } from './bench.ts';
import { canonical, readJson } from './json.ts';
import { driftKey } from './list.ts';
import { expectSame, rowCells } from './rows.ts';
import type { Model, ModelCounts } from './state.ts';

/** The tables that polls write, without `runs`, which every poll writes. */
const TABLES = ['leagues', 'league_changes', 'held_removals', 'rejected_leagues', 'drift', 'players', 'logins'];

/** Every row of every table but `runs`. */
export function dumpApplied({ rows }: ModelBench): unknown {
  return [...TABLES, 'sqlite_sequence', 'schema_migrations'].map((table) => rows(`SELECT * FROM ${table}`));
}

/** Compares every table that a poll may change, except the feed. */
export function expectTables({ rows }: ModelBench, model: Model): void {
  const leagues = keyed(rows('SELECT * FROM leagues'), 'league_id', (row) => ({
    cells: rowCells(row),
    firstSeenAt: row.first_seen_at,
    changedAt: row.changed_at,
    removedAt: row.removed_at,
  }));
  expectSame(leagues, model.leagues, 'leagues');
  const holds = keyed(rows('SELECT * FROM held_removals'), 'league_id', (row) => ({
    firstRunId: row.first_run_id,
    heldSince: row.held_since,
    acceptedAt: row.accepted_at,
    guardSince: row.guard_since,
    reason: row.reason,
  }));
  expectSame(holds, model.holds, 'held_removals');
  expectRejections(rows('SELECT * FROM rejected_leagues'), model);
  const drift = rows('SELECT * FROM drift').map(
    (row) =>
      [
        driftKey(String(row.field), String(row.kind), String(row.detail)),
        { ...firstSeen(row), exampleLeagueId: row.example_league_id },
      ] as const,
  );
  expectSame(new Map(drift), model.drift, 'drift');
}

function keyed<T>(rows: readonly Row[], key: string, read: (row: Row) => T): ReadonlyMap<string, T> {
  return new Map(rows.map((row) => [String(row[key]), read(row)]));
}

function firstSeen(row: Row) {
  return { firstRunId: row.first_run_id, firstSeenAt: row.first_seen_at };
}

function expectRejections(found: readonly Row[], model: Model): void {
  const rejections = found.map((row) => {
    const problems = JSON.parse(String(row.problems)) as readonly { readonly path: string }[];
    const rest = { leagueId: row.league_id, resolvedAt: row.resolved_at, paths: problems.map(({ path }) => path) };
    return [canonical(readJson(String(row.raw))), { ...firstSeen(row), ...rest }] as const;
  });
  const expected = [...model.rejections].map(([raw, { scope: _, ...row }]) => [raw, row] as const);
  expectSame(new Map(rejections), new Map(expected), 'rejected_leagues');
  expectSame(found.length, expected.length, 'the number of rows of rejected_leagues');
}

/** Compares the view `active_leagues`. */
export function expectActive({ rows }: ModelBench, { leagues, holds }: Model): void {
  const active = [...leagues].filter(([, { cells, removedAt }]) => removedAt === null && cells.status === 'active');
  const found = rows('SELECT league_id, priority, held FROM active_leagues');
  expectSame(new Set(found.map((row) => row.league_id)), new Set(active.map(([id]) => id)), 'active_leagues');
  const held = found.filter((row) => row.held === 1n).map((row) => String(row.league_id));
  expectSame(new Set(held), new Set(active.map(([id]) => id).filter((id) => holds.has(id))), 'held in active_leagues');
  const priorities = found.map((row) => Number(row.priority));
  expectSame(
    priorities,
    priorities.toSorted((one, other) => one - other),
    'active_leagues by priority',
  );
}

/** The expected row of a run. */
export type ModelRun = {
  readonly id: bigint;
  readonly at: string;
  readonly outcome: string;
  readonly scope: string;
  readonly errorKind: string | null;
  readonly counts: ModelCounts;
};

/** Compares every run so far, so that no poll rewrites the row of another. */
export function expectRuns({ rows }: ModelBench, runs: readonly ModelRun[]): void {
  const found = rows('SELECT * FROM runs ORDER BY id').map((row) => ({
    id: row.id,
    at: row.finished_at,
    outcome: row.outcome,
    scope: row.scope,
    errorKind: row.error_kind,
    counts: Object.fromEntries(Object.keys(runs[0]?.counts ?? {}).map((name) => [name, Number(row[name])])),
  }));
  expectSame(found, runs, 'runs');
}

const GOOD = ['changed', 'unchanged', 'held'];

/** Compares the view `freshness`. */
export function expectFreshness({ rows }: ModelBench, model: Model, runs: readonly ModelRun[]): void {
  const lastGood = runs.findLastIndex(({ outcome }) => GOOD.includes(outcome));
  const failures = runs.slice(lastGood + 1).filter(({ outcome }) => outcome === 'failed');
  const removed = [...model.leagues.values()].filter(({ removedAt }) => removedAt !== null).length;
  const { age_seconds: _, stale_at: __, ...found } = rows('SELECT * FROM freshness')[0] ?? {};
  const expected = {
    last_success_at: runs[lastGood]?.at ?? null,
    last_outcome: runs.at(-1)?.outcome ?? null,
    consecutive_failures: BigInt(failures.length),
    live_leagues: BigInt(model.leagues.size - removed),
    listed_leagues: BigInt(model.leagues.size - removed - model.holds.size),
    removed_leagues: BigInt(removed),
    held_removals: BigInt(model.holds.size),
    open_rejections: BigInt([...model.rejections.values()].filter(({ resolvedAt }) => resolvedAt === null).length),
  };
  expectSame(found, expected, 'freshness');
}

/** Compares the view `attention`, except the rows that depend on the real clock. */
export function expectAttention({ rows }: ModelBench, model: Model, runs: readonly ModelRun[]): void {
  const found = rows("SELECT what, coalesce(count, 1) AS count FROM attention WHERE what NOT IN ('stale', 'drift')");
  const lastGood = runs.findLastIndex(({ outcome }) => GOOD.includes(outcome));
  const waiting = [...model.holds.values()].filter(({ acceptedAt }) => acceptedAt === null);
  const open = [...model.rejections.values()].filter(({ resolvedAt }) => resolvedAt === null);
  const expected = [
    ['failing', runs.slice(lastGood + 1).filter(({ outcome }) => outcome === 'failed').length],
    ['held-removals', waiting.length],
    ['rejected-leagues', open.length],
  ] as const;
  expectSame(
    found.map(({ what, count }) => [what, Number(count)]),
    expected.filter(([, count]) => count > 0),
    'attention',
  );
}
