import { hash } from 'node:crypto';
import { eq, isNull } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import type { Drift } from '../drift.ts';
import type { JsonText } from '../record.ts';
import type { RunScope } from './runs.ts';
import { drift, heldRemovals, rejectedLeagues, runs } from './schema.ts';

/** The run that is being applied, for rows that say who saw them first. */
export type Sighting = { readonly runId: number; readonly at: string };

export type RejectionRow = {
  readonly leagueId: string | null;
  readonly position: number;
  readonly problems: readonly unknown[];
  readonly raw: JsonText;
};

/** What the service sent that is not as the interface says, and what the guard holds. Steady state writes nothing. */
export type OddityRows = {
  readonly noteDrift: (departures: readonly Drift[], seen: Sighting) => void;
  /** Opens new rejections, reopens returned ones, and resolves those that this scope can speak for and has not. */
  readonly settleRejections: (rejections: readonly RejectionRow[], scope: RunScope, seen: Sighting) => void;
  /** The held removals, each with whether it has been accepted. */
  readonly holds: () => ReadonlyMap<string, { readonly accepted: boolean }>;
  readonly hold: (leagueIds: readonly string[], seen: Sighting) => void;
  readonly release: (leagueIds: readonly string[]) => void;
};

export function createOddityRows(db: BetterSQLite3Database): OddityRows {
  return {
    noteDrift: (departures, { runId, at }) => {
      for (const departure of departures) {
        const row = { ...departure, first_run_id: runId, first_seen_at: at };
        db.insert(drift).values(row).onConflictDoNothing().run();
      }
    },
    settleRejections: (rejections, scope, seen) => settleRejections(db, rejections, scope, seen),
    holds: () =>
      new Map(
        db
          .select()
          .from(heldRemovals)
          .all()
          .map((row) => [row.league_id, { accepted: row.accepted_at !== null }]),
      ),
    hold: (leagueIds, { runId, at }) => {
      for (const league_id of leagueIds) {
        db.insert(heldRemovals).values({ league_id, first_run_id: runId, held_since: at }).onConflictDoNothing().run();
      }
    },
    release: (leagueIds) => {
      for (const leagueId of leagueIds) db.delete(heldRemovals).where(eq(heldRemovals.league_id, leagueId)).run();
    },
  };
}

function settleRejections(
  db: BetterSQLite3Database,
  rejections: readonly RejectionRow[],
  scope: RunScope,
  { runId, at }: Sighting,
): void {
  const sent = new Map(rejections.map((rejection) => [hash('sha256', rejection.raw, 'base64url'), rejection]));
  const open = db
    .select({ id: rejectedLeagues.id, rawHash: rejectedLeagues.raw_hash, scope: runs.scope })
    .from(rejectedLeagues)
    .leftJoin(runs, eq(runs.id, rejectedLeagues.first_run_id))
    .where(isNull(rejectedLeagues.resolved_at))
    .all();
  for (const row of open) {
    const spokenFor = scope === 'all' || scope === row.scope;
    if (!sent.delete(row.rawHash) && spokenFor) {
      db.update(rejectedLeagues).set({ resolved_at: at }).where(eq(rejectedLeagues.id, row.id)).run();
    }
  }
  for (const [rawHash, { leagueId, position, problems, raw }] of sent) {
    db.insert(rejectedLeagues)
      .values({
        first_run_id: runId,
        league_id: leagueId,
        position,
        problems: JSON.stringify(problems),
        raw,
        first_seen_at: at,
        raw_hash: rawHash,
      })
      .onConflictDoUpdate({ target: rejectedLeagues.raw_hash, set: { resolved_at: null } })
      .run();
  }
}
