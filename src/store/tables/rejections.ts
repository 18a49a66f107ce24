import { hash } from 'node:crypto';
import { eq, isNull } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import type { JsonText } from '../../interface.ts';
import { rejectedLeagues } from '../schema.ts';
import type { RunScope, Sighting } from './runs.ts';

/** An element of the list that could not be stored. */
export type RejectionRow = {
  readonly leagueId: string | null;
  readonly position: number;
  readonly problems: readonly unknown[];
  readonly raw: JsonText;
};

export function createRejectionRows(db: BetterSQLite3Database) {
  const { id, league_id, raw_hash, resolved_at, scope: seenBy } = rejectedLeagues;
  const selectOpen = db
    .select({ id, league_id, raw_hash, seenBy })
    .from(rejectedLeagues)
    .where(isNull(resolved_at))
    .prepare();
  const resolve = (rowId: number, at: string) =>
    db.update(rejectedLeagues).set({ resolved_at: at }).where(eq(id, rowId)).run();
  const open = (row: typeof rejectedLeagues.$inferInsert) =>
    db
      .insert(rejectedLeagues)
      .values(row)
      .onConflictDoUpdate({ target: raw_hash, set: { resolved_at: null, scope: row.scope } })
      .run();
  return {
    /**
     * Opens new rejections, reopens returned ones, and resolves those that were not sent again, as far as a poll of this
     * scope can tell. What stays as it is costs no write. Gives those that are news: opened or reopened, and of no
     * league that had an open one before, since the rest of a rejected element may change at every poll.
     */
    settle: <R extends RejectionRow>(rejections: readonly R[], scope: RunScope, { runId, at }: Sighting) => {
      const before = selectOpen.all();
      const sent = new Map(rejections.map((rejection) => [hash('sha256', rejection.raw, 'base64url'), rejection]));
      for (const row of before) {
        const canTell = scope === 'all' || scope === row.seenBy;
        if (!sent.delete(row.raw_hash) && canTell) resolve(row.id, at);
      }
      for (const [rawHash, { leagueId, position, problems, raw }] of sent) {
        const element = { league_id: leagueId, position, problems: JSON.stringify(problems), raw, raw_hash: rawHash };
        open({ ...element, first_run_id: runId, first_seen_at: at, scope });
      }
      const known = new Set(before.map((row) => row.league_id));
      return [...sent.values()].filter(({ leagueId }) => leagueId === null || !known.has(leagueId));
    },
  };
}
