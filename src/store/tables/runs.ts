import type Database from 'better-sqlite3';
import { and, desc, eq, inArray, isNotNull, isNull, max, type SQL, sql } from 'drizzle-orm';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { logins, runs } from '../schema.ts';

type Row = typeof runs.$inferSelect;
export type RunKind = Row['kind'];
export type Trigger = Row['trigger'];
export type RunScope = NonNullable<Row['scope']>;

/** The run that writes a row, and the timestamp of its writes. */
export type RunStamp = { readonly runId: number; readonly at: string };

type RunStart = Pick<Row, 'kind' | 'trigger' | 'scope' | 'started_at' | 'fingerprint' | 'program_version'> &
  Partial<Pick<Row, 'not_before'>>;
/** Omitted columns keep their value. */
export type RunEnd = Pick<Row, 'finished_at' | 'outcome'> & Partial<Row>;

const isSuccess = inArray(runs.outcome, ['changed', 'unchanged', 'held']);
const isOfLeagues = eq(runs.kind, 'leagues');

const INSERT = `INSERT INTO runs (kind, trigger, scope, started_at, fingerprint, program_version, not_before, outcome)
  VALUES (@kind, @trigger, @scope, @started_at, @fingerprint, @program_version, @not_before, 'running')`;

export function createRunRows(client: Database.Database) {
  const db = drizzle({ client });
  // Prepared once: building a statement takes ten times as long as running it.
  const insert = client.prepare<[RunStart]>(INSERT);
  const lastApplied = prepareNewest(db, isSuccess, isOfLeagues);
  const lastList = prepareNewest(db, isSuccess, isOfLeagues, sql`${runs.http_status} IS NOT 304`);
  const newest = (...conditions: readonly SQL[]): Row | undefined => prepareNewest(db, ...conditions).get();
  return {
    start: (start: RunStart): number => Number(insert.run({ not_before: null, ...start }).lastInsertRowid),
    finish: (id: number, end: RunEnd): void => {
      db.update(runs).set(end).where(eq(runs.id, id)).run();
    },
    /** Marks the `running` rows of a killed worker as interrupted; returns their number. */
    interruptRunning: (message: string): number => {
      const end = { outcome: 'interrupted', error_message: message } as const;
      return db.update(runs).set(end).where(eq(runs.outcome, 'running')).run().changes;
    },
    lastSuccess: (kind: RunKind, scope: RunScope | null) =>
      newest(isSuccess, eq(runs.kind, kind), scope === null ? isNull(runs.scope) : eq(runs.scope, scope)),
    /** The last successful poll of the leagues; its status may be 304. */
    lastApplied: () => lastApplied.get(),
    /** The end of the last successful poll that received a list rather than status 304. */
    lastListAt: () => lastList.get()?.finished_at ?? undefined,
    lastChangedAt: () => newest(inArray(runs.outcome, ['changed', 'held']))?.finished_at ?? undefined,
    lastStartedAt: () => newest()?.started_at,
    lastFinishedAt: () => newest(isNotNull(runs.finished_at))?.finished_at ?? undefined,
    /** Stores the end of a Retry-After in the newest run with this fingerprint. */
    noteRetryAfter: (fingerprint: string, until: string): void => {
      const last = db
        .select({ id: max(runs.id) })
        .from(runs)
        .where(eq(runs.fingerprint, fingerprint));
      db.update(runs).set({ not_before: until }).where(eq(runs.id, last)).run();
    },
    lastRetryAfter: (fingerprint: string) => selectLastRetryAfter(db, fingerprint),
    prune: (before: string, now: string): number => pruneRuns(db, before, now),
  };
}

function prepareNewest(db: BetterSQLite3Database, ...conditions: readonly SQL[]) {
  return db
    .select()
    .from(runs)
    .where(and(...conditions))
    .orderBy(desc(runs.id))
    .limit(1)
    .prepare();
}

/** Only columns that every schema version has, so that `check` can read a database before its upgrade. */
const RETRY_AFTER = { until: runs.not_before, askedAt: runs.started_at };
const LOGIN_RETRY_AFTER = { until: logins.not_before, askedAt: logins.at };

/**
 * The Retry-After of the newest run, or of the newest login if there is no run. If `fingerprint` is given, only rows
 * with that fingerprint count. The newest row is found by its id, not its timestamp: the clock may have been set back.
 */
export function selectLastRetryAfter(db: BetterSQLite3Database, fingerprint?: string) {
  const isOfService = (column: typeof runs.fingerprint | typeof logins.fingerprint) =>
    fingerprint === undefined ? undefined : eq(column, fingerprint);
  const last =
    db.select(RETRY_AFTER).from(runs).where(isOfService(runs.fingerprint)).orderBy(desc(runs.id)).limit(1).get() ??
    db
      .select(LOGIN_RETRY_AFTER)
      .from(logins)
      .where(isOfService(logins.fingerprint))
      .orderBy(desc(logins.id))
      .limit(1)
      .get();
  return last?.until ? { until: last.until, askedAt: last.askedAt } : undefined;
}

/**
 * Deletes runs started before `before`; returns their number. Keeps running ones, the last success of each kind and
 * scope, those whose Retry-After has not ended, those that other rows refer to, and the newest, so that ids are not
 * reused. A run's counts tell whether the feed refers to it; searching the feed, with millions of rows, would be slow.
 */
function pruneRuns(db: BetterSQLite3Database, before: string, now: string): number {
  return db.run(sql`DELETE FROM runs
    WHERE started_at < ${before} AND outcome <> 'running'
      AND (kind = 'profile' OR added + changed + restored + removed = 0)
      AND coalesce(not_before, '') < ${now}
      AND id NOT IN (SELECT first_run_id FROM rejected_leagues)
      AND id NOT IN (SELECT first_run_id FROM held_removals)
      AND id NOT IN (SELECT first_run_id FROM drift)
      AND id NOT IN (SELECT run_id FROM logins WHERE run_id IS NOT NULL)
      AND id NOT IN (SELECT max(id) FROM runs)
      AND id NOT IN (
        SELECT max(id) FROM runs WHERE outcome IN ('changed', 'unchanged', 'held') GROUP BY kind, scope)`).changes;
}
