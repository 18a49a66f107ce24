import type Database from 'better-sqlite3';
import { eq, sql } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { runs } from '../schema.ts';

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

export type RunRows = {
  /** Adds a `running` row and gives its id. */
  readonly start: (start: RunStart) => number;
  readonly finish: (id: number, end: RunEnd) => void;
  /** Marks what a killed worker left `running`; gives the number of such rows. */
  readonly interruptRunning: (message: string) => number;
  /** The last good run of this kind and scope. */
  readonly lastSuccess: (
    kind: RunKind,
    scope: RunScope | null,
  ) => { readonly startedAt: string; readonly finishedAt: string } | undefined;
  /** The last good run of the leagues, of whatever scope: the stored leagues are as it left them. */
  readonly lastApplied: () => Row | undefined;
  /** When a good run of the leagues last ended that was sent the list, and not only told that it is the same. */
  readonly lastListAt: () => string | undefined;
  /** When a run last ended that had anything to apply, or to hold. */
  readonly lastChangedAt: () => string | undefined;
  /** When the last run was begun. */
  readonly lastStartedAt: () => string | undefined;
  /** The latest instant that any run was recorded at. */
  readonly lastFinishedAt: () => string | undefined;
  /** Deletes runs that ended before the instant, that nothing else names and that are not the last of their kind. */
  readonly prune: (before: string, now: string) => number;
};

export function createRunRows(client: Database.Database, db: BetterSQLite3Database): RunRows {
  const lastSuccess = client.prepare<[RunKind, RunScope | null], { startedAt: string; finishedAt: string }>(
    `SELECT started_at AS startedAt, finished_at AS finishedAt FROM runs
      WHERE kind = ? AND scope IS ? AND outcome IN ('changed', 'unchanged', 'held') ORDER BY id DESC LIMIT 1`,
  );
  const lastApplied = client.prepare<[], Row>(
    `SELECT * FROM runs WHERE kind = 'leagues' AND outcome IN ('changed', 'unchanged', 'held') ORDER BY id DESC LIMIT 1`,
  );
  const lastList = client.prepare<[], { at: string }>(
    `SELECT finished_at AS at FROM runs WHERE kind = 'leagues' AND outcome IN ('changed', 'unchanged', 'held')
      AND http_status IS NOT 304 ORDER BY id DESC LIMIT 1`,
  );
  const lastChanged = client.prepare<[], { at: string }>(
    "SELECT finished_at AS at FROM runs WHERE outcome IN ('changed', 'held') ORDER BY id DESC LIMIT 1",
  );
  const lastStarted = client.prepare<[], { at: string }>('SELECT started_at AS at FROM runs ORDER BY id DESC LIMIT 1');
  const lastFinished = client.prepare<[], { at: string }>(
    'SELECT finished_at AS at FROM runs WHERE finished_at IS NOT NULL ORDER BY id DESC LIMIT 1',
  );
  const insert = client.prepare<[Required<RunStart>]>(INSERT);
  const update = rememberUpdates(client);
  return {
    start: (start) => Number(insert.run({ not_before: null, ...start }).lastInsertRowid),
    finish: (id, end) => {
      update(Object.keys(end)).run({ ...end, id });
    },
    interruptRunning: (message) =>
      db.update(runs).set({ outcome: 'interrupted', error_message: message }).where(eq(runs.outcome, 'running')).run()
        .changes,
    lastSuccess: (kind, scope) => lastSuccess.get(kind, scope),
    lastApplied: () => lastApplied.get(),
    lastListAt: () => lastList.get()?.at,
    lastChangedAt: () => lastChanged.get()?.at,
    lastStartedAt: () => lastStarted.get()?.at,
    lastFinishedAt: () => lastFinished.get()?.at,
    prune: (before, now) => db.run(pruneRuns(before, now)).changes,
  };
}

const STARTED = ['kind', 'trigger', 'scope', 'started_at', 'fingerprint', 'program_version', 'not_before'] as const;
const INSERT = `INSERT INTO runs (outcome, ${STARTED.join(', ')})
  VALUES ('running', ${STARTED.map((name) => `@${name}`).join(', ')})`;

/** Runs end in a few ways, each with columns of its own; the statement of each is made once, not at every poll. */
function rememberUpdates(client: Database.Database): (names: readonly string[]) => Database.Statement<[object]> {
  const made = new Map<string, Database.Statement<[object]>>();
  return (names) => {
    const set = names.map((name) => `${name} = @${name}`).join(', ');
    const known = made.get(set);
    if (known !== undefined) return known;
    const statement = client.prepare<[object]>(`UPDATE runs SET ${set} WHERE id = @id`);
    made.set(set, statement);
    return statement;
  };
}

/**
 * The change feed names its run by number, and looking each up would read the whole feed; a run that is named there
 * has counted its changes. The newest row stays, so that ids are never given twice, and so does the last good run of
 * each kind and scope, which freshness and restarts look at: it is looked for among the old runs, which are few, and
 * then whether there is a later one.
 */
function pruneRuns(before: string, now: string) {
  return sql`DELETE FROM runs
    WHERE started_at < ${before} AND outcome <> 'running'
      AND (kind = 'profile' OR added + changed + restored + removed = 0)
      AND coalesce(not_before, '') < ${now}
      AND id NOT IN (SELECT first_run_id FROM rejected_leagues)
      AND id NOT IN (SELECT first_run_id FROM held_removals)
      AND id NOT IN (SELECT first_run_id FROM drift)
      AND id NOT IN (SELECT max(id) FROM runs)
      AND id NOT IN (
        SELECT id FROM (
          SELECT max(id) AS id, kind, scope FROM runs
            WHERE started_at < ${before} AND outcome IN ('changed', 'unchanged', 'held') GROUP BY kind, scope) AS last
        WHERE NOT EXISTS (SELECT 1 FROM runs AS later
          WHERE later.id > last.id AND later.kind = last.kind AND later.scope IS last.scope
            AND later.outcome IN ('changed', 'unchanged', 'held')))`;
}
