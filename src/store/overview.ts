import type Database from 'better-sqlite3';
import { openForReading } from './open.ts';

/** What the database says of itself, for people and for scripts. */
export type Overview = {
  readonly freshness: Freshness;
  readonly lastRuns: readonly RunSummary[];
  readonly lastLogin: LoginSummary | undefined;
  /** When the token of the last granted login expires, by the service's clock. */
  readonly tokenExpiresAt: string | null;
  readonly heldRemovals: readonly {
    readonly league_id: string;
    readonly held_since: string;
    readonly accepted_at: string | null;
  }[];
};

export type Freshness = {
  readonly last_success_at: string | null;
  readonly age_seconds: number | null;
  readonly last_outcome: string | null;
  readonly consecutive_failures: number;
  readonly live_leagues: number;
  readonly removed_leagues: number;
  readonly held_removals: number;
  readonly open_rejections: number;
};

export type RunSummary = {
  readonly id: number;
  readonly kind: string;
  readonly trigger: string;
  readonly started_at: string;
  readonly outcome: string;
  readonly received: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly restored: number;
  readonly error_message: string | null;
};

export type LoginSummary = { readonly at: string; readonly outcome: string; readonly error_message: string | null };

const LAST_RUNS = 10;

/** Reads the overview. Throws a DatabaseError where there is no database of this program. */
export function readOverview(path: string): Overview {
  const db = openForReading(path);
  try {
    return db.transaction(() => overviewOf(db))();
  } finally {
    db.close();
  }
}

function overviewOf(db: Database.Database): Overview {
  const one = <T>(sql: string): T | undefined => db.prepare<[], T>(sql).get();
  return {
    freshness: one<Freshness>('SELECT * FROM freshness') as Freshness,
    lastRuns: db
      .prepare<[number], RunSummary>(
        `SELECT id, kind, trigger, started_at, outcome, received, added, changed, removed, restored, error_message
          FROM runs ORDER BY id DESC LIMIT ?`,
      )
      .all(LAST_RUNS),
    lastLogin: one<LoginSummary>('SELECT at, outcome, error_message FROM logins ORDER BY id DESC LIMIT 1'),
    tokenExpiresAt:
      one<{ expires_at: string | null }>("SELECT expires_at FROM logins WHERE outcome = 'ok' ORDER BY id DESC LIMIT 1")
        ?.expires_at ?? null,
    heldRemovals: db
      .prepare<[], Overview['heldRemovals'][number]>(
        'SELECT league_id, held_since, accepted_at FROM held_removals ORDER BY held_since',
      )
      .all(),
  };
}
