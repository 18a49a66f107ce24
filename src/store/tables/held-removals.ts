import type Database from 'better-sqlite3';
import { and, count, eq, isNull, sql } from 'drizzle-orm';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { type Clock, formatInstant } from '../../clock.ts';
import { createPatience } from '../busy.ts';
import { withReader, withSecondWriter } from '../connection.ts';
import { readMigrations, refuseOther } from '../migrate.ts';
import { heldRemovals, leagues, rejectedLeagues } from '../schema.ts';
import type { Sighting } from './runs.ts';

export type Hold = {
  /** Since when the guard has been holding without a break, be it for other leagues at first. */
  readonly guardSince: string;
  readonly accepted: boolean;
};

/** The removals that the guard holds. */
export type HoldRows = ReturnType<typeof createHoldRows>;

export function createHoldRows(db: BetterSQLite3Database) {
  const selectAll = db.select().from(heldRemovals).prepare();
  return {
    /** Each held league. */
    all: (): ReadonlyMap<string, Hold> =>
      new Map(
        selectAll.all().map(({ league_id, held_since, guard_since, accepted_at }) => {
          return [league_id, { guardSince: guard_since ?? held_since, accepted: accepted_at !== null }];
        }),
      ),
    /** Holds these from this run on. `guardSince` is earlier where the guard held others before. */
    hold: (leagueIds: readonly string[], { runId, at }: Sighting, guardSince?: string): void => {
      for (const league_id of leagueIds) {
        const row = { league_id, first_run_id: runId, held_since: at, guard_since: guardSince };
        db.insert(heldRemovals).values(row).onConflictDoNothing().run();
      }
    },
    release: (leagueIds: readonly string[]): void => {
      for (const leagueId of leagueIds) db.delete(heldRemovals).where(eq(heldRemovals.league_id, leagueId)).run();
    },
  };
}

/** Nobody reads more of a name. */
const LONGEST_SHOWN = 200;

/** A removal that the guard holds, with what the row of its league says. */
export type HeldRemoval = ReturnType<typeof selectHeldRemovals>[number];

export function selectHeldRemovals(client: Database.Database) {
  const { league_id, first_run_id, held_since, accepted_at } = heldRemovals;
  const shown = (column: typeof leagues.league_name | typeof leagues.sport) =>
    sql<string | null>`substr(${column}, 1, ${sql.raw(String(LONGEST_SHOWN))})`;
  const [league_name, sport] = [shown(leagues.league_name), shown(leagues.sport)];
  return drizzle({ client })
    .select({ league_id, league_name, sport, first_run_id, held_since, accepted_at })
    .from(heldRemovals)
    .leftJoin(leagues, eq(leagues.league_id, heldRemovals.league_id))
    .orderBy(held_since, league_name, league_id)
    .all();
}

/**
 * All held removals, those that have been accepted included. Throws a DatabaseError, also where the database is of
 * another version of the program, so that nothing is offered that could not be done.
 */
export function readHeldRemovals(path: string, migrations: string): readonly HeldRemoval[] {
  const known = readMigrations(migrations);
  return withReader(path, (client) => {
    refuseOther(client, known, path);
    return selectHeldRemovals(client);
  });
}

/**
 * How many elements the service sends of which nobody can say which league they are: while it does, no removal is
 * applied, accepted or not (contract, 5.2). Throws a DatabaseError.
 */
export function countUnidentified(path: string): number {
  const isUnidentified = and(isNull(rejectedLeagues.league_id), isNull(rejectedLeagues.resolved_at));
  const select = (db: BetterSQLite3Database) => db.select({ n: count() }).from(rejectedLeagues).where(isUnidentified);
  return withReader(path, (client) => select(drizzle({ client })).get()?.n ?? 0);
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
  // On a connection that only reads: one that may write would apply a WAL that lies there, even if it then refuses.
  readHeldRemovals(path, migrations);
  const { league_id, first_run_id, accepted_at } = heldRemovals;
  const accept = (client: Database.Database): number => {
    const db = drizzle({ client });
    const at = formatInstant(clock.now());
    const acceptOne = (held: HeldRemoval): number => {
      const isThis = and(eq(league_id, held.league_id), eq(first_run_id, held.first_run_id), isNull(accepted_at));
      return db.update(heldRemovals).set({ accepted_at: at }).where(isThis).run().changes;
    };
    return client.transaction(() => removals.reduce((sum, held) => sum + acceptOne(held), 0)).immediate();
  };
  return createPatience(clock, stop)(() => withSecondWriter(path, accept));
}
