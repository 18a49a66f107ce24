import type Database from 'better-sqlite3';
import { type Clock, formatInstant } from '../../clock.ts';
import { createPatience } from '../busy.ts';
import { withReader, withSecondWriter } from '../connection.ts';
import { readMigrations, refuseOther } from '../migrate.ts';

/** A removal that the guard holds, with what the row of its league says. */
export type HeldRemoval = {
  readonly league_id: string;
  readonly league_name: string | null;
  readonly sport: string | null;
  readonly first_run_id: number;
  readonly held_since: string;
  readonly accepted_at: string | null;
};

/**
 * All held removals, those that have been accepted included. Throws a DatabaseError, also where the database is of
 * another version of the program, so that nothing is offered that could not be done.
 */
export function readHeldRemovals(path: string, migrations: string): readonly HeldRemoval[] {
  const known = readMigrations(migrations);
  return withReader(path, (db) => {
    refuseOther(db, known, path);
    return selectHeldRemovals(db);
  });
}

/** Nobody reads more of a name. */
const LONGEST_SHOWN = 200;

export function selectHeldRemovals(db: Database.Database): readonly HeldRemoval[] {
  return db
    .prepare<[], HeldRemoval>(
      `SELECT held.league_id, substr(league_name, 1, ${LONGEST_SHOWN}) AS league_name,
          substr(sport, 1, ${LONGEST_SHOWN}) AS sport, first_run_id, held_since, accepted_at
        FROM held_removals AS held LEFT JOIN leagues USING (league_id) ORDER BY held_since, league_name, league_id`,
    )
    .all();
}

/**
 * How many elements the service sends of which nobody can say which league they are: while it does, no removal is
 * applied, accepted or not (contract, 5.2). Throws a DatabaseError.
 */
export function countUnidentified(path: string): number {
  const sql = 'SELECT count(*) FROM rejected_leagues WHERE league_id IS NULL AND resolved_at IS NULL';
  return withReader(path, (db) => Number(db.prepare(sql).pluck().get()));
}

export type AcceptanceOptions = { readonly migrations: string; readonly clock: Clock; readonly stop: AbortSignal };

/**
 * Lets these removals pass with the next poll, beside a worker that may be running, and gives how many: one that was
 * released meanwhile, or held anew since, is none of these. Rejects with a DatabaseError.
 */
export function acceptRemovals(
  path: string,
  removals: readonly HeldRemoval[],
  { migrations, clock, stop }: AcceptanceOptions,
): Promise<number> {
  // On a connection that only reads: one that may write would apply a log that lies there, even if it then refuses.
  readHeldRemovals(path, migrations);
  const sql = `UPDATE held_removals SET accepted_at = @at
    WHERE league_id = @league_id AND first_run_id = @first_run_id AND accepted_at IS NULL`;
  return createPatience(
    clock,
    stop,
  )(() =>
    withSecondWriter(path, (db) => {
      const accept = db.prepare(sql);
      const at = formatInstant(clock.now());
      const each = ({ league_id, first_run_id }: HeldRemoval) => accept.run({ league_id, first_run_id, at }).changes;
      return db.transaction(() => removals.map(each).reduce((sum, changes) => sum + changes, 0)).immediate();
    }),
  );
}
