import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import type { Drift } from '../../drift.ts';
import { drift } from '../schema.ts';
import type { Sighting } from './runs.ts';

export function createDriftRows(db: BetterSQLite3Database) {
  return {
    /** Adds the departures that have no row yet, and gives them. */
    note: (departures: readonly Drift[], { runId, at }: Sighting): readonly Drift[] =>
      departures.filter((departure) => {
        const row = { ...departure, first_run_id: runId, first_seen_at: at };
        return db.insert(drift).values(row).onConflictDoNothing().run().changes > 0;
      }),
  };
}
