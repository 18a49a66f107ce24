import { and, desc, eq, inArray, isNotNull, isNull, max, placeholder, type SQL, sql } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { logins, runs } from '../schema.ts';

type Row = typeof runs.$inferSelect;
export type RunKind = Row['kind'];
export type Trigger = Row['trigger'];
export type RunScope = NonNullable<Row['scope']>;

/** The run that is being applied, for rows that say who wrote them, and its one instant. */
export type Sighting = { readonly runId: number; readonly at: string };

/** What is known of a run when it starts. */
export type RunStart = Pick<Row, 'kind' | 'trigger' | 'scope' | 'started_at' | 'fingerprint' | 'program_version'> &
  Partial<Pick<Row, 'not_before'>>;
/** What is known of a run when it ends; what is left out stays as it is. */
export type RunEnd = Pick<Row, 'finished_at' | 'outcome'> &
  Partial<Omit<Row, 'id' | 'finished_at' | 'outcome' | Exclude<keyof RunStart, 'not_before'>>>;

const isGood = inArray(runs.outcome, ['changed', 'unchanged', 'held']);
const isOfLeagues = eq(runs.kind, 'leagues');

export function createRunRows(db: BetterSQLite3Database) {
  // A poll asks for these each time, and building a statement takes ten times as long as running it.
  const insert = db
    .insert(runs)
    .values({ ...STARTED, outcome: 'running' })
    .prepare();
  const lastApplied = prepareNewest(db, isGood, isOfLeagues);
  const lastList = prepareNewest(db, isGood, isOfLeagues, sql`${runs.http_status} IS NOT 304`);
  const newest = (...conditions: readonly SQL[]): Row | undefined => prepareNewest(db, ...conditions).get();
  return {
    /** Adds a `running` row and gives its id. */
    start: (start: RunStart): number => Number(insert.run({ not_before: null, ...start }).lastInsertRowid),
    finish: (id: number, end: RunEnd): void => {
      db.update(runs).set(end).where(eq(runs.id, id)).run();
    },
    /** Marks what a killed worker left `running`; gives the number of such rows. */
    interruptRunning: (message: string): number =>
      db.update(runs).set({ outcome: 'interrupted', error_message: message }).where(eq(runs.outcome, 'running')).run()
        .changes,
    /** The last good run of this kind and scope. */
    lastSuccess: (kind: RunKind, scope: RunScope | null) =>
      newest(isGood, eq(runs.kind, kind), scope === null ? isNull(runs.scope) : eq(runs.scope, scope)),
    /** The last good run of the leagues, of whatever scope: the stored leagues are as it left them. */
    lastApplied: (): Row | undefined => lastApplied.get(),
    /** When a good run of the leagues last ended that was sent the list, and not only told that it is the same. */
    lastListAt: () => lastList.get()?.finished_at ?? undefined,
    /** When a run last ended that had anything to apply, or to hold. */
    lastChangedAt: () => newest(inArray(runs.outcome, ['changed', 'held']))?.finished_at ?? undefined,
    /** When the last run was begun. */
    lastStartedAt: () => newest()?.started_at,
    /** The latest instant that any run was recorded at. */
    lastFinishedAt: () => newest(isNotNull(runs.finished_at))?.finished_at ?? undefined,
    /** Remembers, in the row of the last run, the instant until which this service asked to be left alone. */
    notePause: (fingerprint: string, until: string): void => {
      const last = db
        .select({ id: max(runs.id) })
        .from(runs)
        .where(eq(runs.fingerprint, fingerprint));
      db.update(runs).set({ not_before: until }).where(eq(runs.id, last)).run();
    },
    lastPause: (fingerprint: string) => selectLastPause(db, fingerprint),
    prune: (before: string, now: string): number => pruneRuns(db, before, now),
  };
}

/** What is known of a run when it starts, each column by its name. */
const STARTED = {
  kind: placeholder('kind'),
  trigger: placeholder('trigger'),
  scope: placeholder('scope'),
  started_at: placeholder('started_at'),
  fingerprint: placeholder('fingerprint'),
  program_version: placeholder('program_version'),
  not_before: placeholder('not_before'),
};

/** The newest run of which all of this is true. */
function prepareNewest(db: BetterSQLite3Database, ...conditions: readonly SQL[]) {
  return db
    .select()
    .from(runs)
    .where(and(...conditions))
    .orderBy(desc(runs.id))
    .limit(1)
    .prepare();
}

/**
 * The Retry-After that was on when this service, or any, was last asked for anything, and since when it was: of the last
 * run, or of the last login if there has been no run, since every later one is written into a run. The latest row, and
 * not the latest end: a clock that was ahead may have written one that never comes.
 */
export function selectLastPause(
  db: BetterSQLite3Database,
  fingerprint?: string,
): { readonly until: string; readonly askedAt: string } | undefined {
  const conditions = fingerprint === undefined ? [] : [eq(runs.fingerprint, fingerprint)];
  const run = prepareNewest(db, ...conditions).get();
  if (run !== undefined) return pauseOf(run.not_before, run.started_at);
  const isOfService = fingerprint === undefined ? undefined : eq(logins.fingerprint, fingerprint);
  const login = db.select().from(logins).where(isOfService).orderBy(desc(logins.id)).limit(1).get();
  return login && pauseOf(login.not_before, login.at);
}

function pauseOf(until: string | null, askedAt: string) {
  return until === null ? undefined : { until, askedAt };
}

/**
 * Deletes runs that ended before the instant, that nothing else names and that are not the last of their kind. The
 * change feed names its run by number, and looking each up would read the whole feed; a run that is named there has
 * counted its changes. The newest row stays, so that ids are never given twice, and so does the last good run of each
 * kind and scope, which freshness and restarts look at.
 */
function pruneRuns(db: BetterSQLite3Database, before: string, now: string): number {
  return db.run(sql`DELETE FROM runs
    WHERE started_at < ${before} AND outcome <> 'running'
      AND (kind = 'profile' OR added + changed + restored + removed = 0)
      AND coalesce(not_before, '') < ${now}
      AND id NOT IN (SELECT first_run_id FROM rejected_leagues)
      AND id NOT IN (SELECT first_run_id FROM held_removals)
      AND id NOT IN (SELECT first_run_id FROM drift)
      AND id NOT IN (SELECT max(id) FROM runs)
      AND id NOT IN (
        SELECT max(id) FROM runs WHERE outcome IN ('changed', 'unchanged', 'held') GROUP BY kind, scope)`).changes;
}
