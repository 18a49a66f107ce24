import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import type { Drift } from '../drift.ts';
import type { Sighting } from './runs.ts';
import { drift } from './schema.ts';

export type DriftRows = {
  /** Adds the departures that have no row yet. */
  readonly note: (departures: readonly Drift[], seen: Sighting) => void;
};

export function createDriftRows(db: BetterSQLite3Database): DriftRows {
  return {
    note: (departures, { runId, at }) => {
      for (const departure of departures) {
        const row = { ...departure, first_run_id: runId, first_seen_at: at };
        db.insert(drift).values(row).onConflictDoNothing().run();
      }
    },
  };
}
