import { count } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import type { Drift } from '../../league/drift.ts';
import { drift } from '../schema.ts';
import type { RunStamp } from './runs.ts';

/** A service whose field names never repeat would fill the disk. */
const MAX_ROWS = 10_000;

export function createDriftRows(db: BetterSQLite3Database) {
  return {
    /** Stores drift, up to `MAX_ROWS` rows in all; returns the departures from the interface that were not stored before. */
    add: (departures: readonly Drift[], { runId, at }: RunStamp): readonly Drift[] => {
      if (departures.length === 0) return [];
      let left = MAX_ROWS - (db.select({ rows: count() }).from(drift).get()?.rows ?? 0);
      return departures.filter((departure) => {
        const row = { ...departure, first_run_id: runId, first_seen_at: at };
        if (left <= 0 || db.insert(drift).values(row).onConflictDoNothing().run().changes === 0) return false;
        left -= 1;
        return true;
      });
    },
  };
}
