import { hash } from 'node:crypto';
import { eq, isNull } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import type { JsonText } from '../../league/response-schemas.ts';
import { rejectedLeagues } from '../schema.ts';
import type { RunScope, RunStamp } from './runs.ts';

type RejectionRow = {
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
  return {
    /**
     * Adds new rejections, reopens resolved ones whose element was sent again, and resolves open ones whose element was
     * not sent. Only a poll of all leagues or of the same scope resolves a rejection. Returns the added and reopened
     * ones, but not for leagues that already had an open rejection: their elements may differ at every poll.
     */
    update: <R extends RejectionRow>(rejections: readonly R[], scope: RunScope, { runId, at }: RunStamp) => {
      const before = selectOpen.all();
      const sent = new Map(rejections.map((rejection) => [hash('sha256', rejection.raw, 'base64url'), rejection]));
      for (const row of before) {
        const canTell = scope === 'all' || scope === row.seenBy;
        if (!sent.delete(row.raw_hash) && canTell)
          db.update(rejectedLeagues).set({ resolved_at: at }).where(eq(id, row.id)).run();
      }
      for (const [rawHash, { leagueId, position, problems, raw }] of sent) {
        const element = { league_id: leagueId, position, problems: JSON.stringify(problems), raw, raw_hash: rawHash };
        db.insert(rejectedLeagues)
          .values({ ...element, first_run_id: runId, first_seen_at: at, scope })
          .onConflictDoUpdate({ target: raw_hash, set: { resolved_at: null, scope } })
          .run();
      }
      const known = new Set(before.map((row) => row.league_id));
      return [...sent.values()].filter(({ leagueId }) => leagueId === null || !known.has(leagueId));
    },
  };
}
