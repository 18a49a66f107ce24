import type Database from 'better-sqlite3';
import { and, eq, isNull, sql } from 'drizzle-orm';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { formatTimestamp } from '../../time/clock.ts';
import { withReader } from '../connection.ts';
import { assertSchemaCurrent } from '../migrate.ts';
import { heldRemovals, leagues } from '../schema.ts';
import { type BesideWorker, writeBesideWorker } from '../second-writer.ts';
import type { RunStamp } from './runs.ts';

export type Hold = {
  /** Since when at least one removal, of any league, has been held at every moment. This hold may be younger. */
  readonly guardSince: string;
  readonly accepted: boolean;
};

/** Why removals are held; the first that applies. */
export type HoldReason = NonNullable<typeof heldRemovals.$inferSelect.reason>;

export function createHoldRows(db: BetterSQLite3Database) {
  const selectAll = db.select().from(heldRemovals).prepare();
  return {
    /** All holds by `league_id`. */
    all: (): ReadonlyMap<string, Hold> =>
      new Map(
        selectAll.all().map(({ league_id, held_since, guard_since, accepted_at }) => {
          return [league_id, { guardSince: guard_since ?? held_since, accepted: accepted_at !== null }];
        }),
      ),
    hold: (leagueIds: readonly string[], { runId, at }: RunStamp, reason?: HoldReason, guardSince?: string): void => {
      for (const league_id of leagueIds) {
        const row = { league_id, first_run_id: runId, held_since: at, guard_since: guardSince, reason };
        db.insert(heldRemovals).values(row).onConflictDoNothing().run();
      }
    },
    release: (leagueIds: readonly string[]): void => {
      for (const leagueId of leagueIds) db.delete(heldRemovals).where(eq(heldRemovals.league_id, leagueId)).run();
    },
  };
}

export type HeldRemoval = ReturnType<typeof selectHeldRemovals>[number];

/** The held removals, including accepted ones. Truncates names and sports, which may have any length. */
export function selectHeldRemovals(client: Database.Database) {
  const { league_id, first_run_id, held_since, accepted_at, reason } = heldRemovals;
  const league_name = sql<string | null>`substr(${leagues.league_name}, 1, 200)`;
  const sport = sql<string | null>`substr(${leagues.sport}, 1, 200)`;
  return drizzle({ client })
    .select({ league_id, league_name, sport, first_run_id, held_since, accepted_at, reason })
    .from(heldRemovals)
    .leftJoin(leagues, eq(leagues.league_id, heldRemovals.league_id))
    .orderBy(held_since, league_name, league_id)
    .all();
}

/** Throws a DatabaseError, for example if a program version with a newer schema wrote the database. */
export function readHeldRemovals(path: string): readonly HeldRemoval[] {
  return withReader(path, (client) => {
    assertSchemaCurrent(client, path);
    return selectHeldRemovals(client);
  });
}

/** Resolves to how many `removals` were still held. Rejects with a DatabaseError. */
export function acceptRemovals(path: string, removals: readonly HeldRemoval[], beside: BesideWorker): Promise<number> {
  const { league_id, first_run_id, accepted_at } = heldRemovals;
  return writeBesideWorker(path, beside, (client) => {
    const db = drizzle({ client });
    const at = formatTimestamp(beside.clock.now());
    const acceptOne = (held: HeldRemoval): number => {
      const isThis = and(eq(league_id, held.league_id), eq(first_run_id, held.first_run_id), isNull(accepted_at));
      return db.update(heldRemovals).set({ accepted_at: at }).where(isThis).run().changes;
    };
    return removals.reduce((sum, held) => sum + acceptOne(held), 0);
  });
}
