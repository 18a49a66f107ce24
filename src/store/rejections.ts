import { eq, isNull, placeholder } from 'drizzle-orm';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import { hashOf } from '../hash.ts';
import type { JsonText } from '../record.ts';
import type { RunScope, Sighting } from './runs.ts';
import { rejectedLeagues } from './schema.ts';

/** An element of the list that could not be stored. */
export type RejectionRow = {
  readonly leagueId: string | null;
  readonly position: number;
  readonly problems: readonly unknown[];
  readonly raw: JsonText;
};

export type RejectionRows = {
  /**
   * Opens new rejections, reopens returned ones, and resolves those that were not sent again, as far as a poll of this
   * scope can tell. What stays as it is costs no write.
   */
  readonly settle: (rejections: readonly RejectionRow[], scope: RunScope, seen: Sighting) => void;
};

export function createRejectionRows(db: BetterSQLite3Database): RejectionRows {
  const { id, raw_hash, scope: seenBy } = rejectedLeagues;
  const selectOpen = db
    .select({ id, raw_hash, seenBy })
    .from(rejectedLeagues)
    .where(isNull(rejectedLeagues.resolved_at))
    .prepare();
  return { settle: (rejections, scope, seen) => settle(db, selectOpen.all(), { rejections, scope, seen }) };
}

type Open = Pick<typeof rejectedLeagues.$inferSelect, 'id' | 'raw_hash'> & { readonly seenBy: RunScope };
type Sent = {
  readonly rejections: readonly RejectionRow[];
  readonly scope: RunScope;
  readonly seen: Sighting;
};

function settle(db: BetterSQLite3Database, open: readonly Open[], { rejections, scope, seen }: Sent): void {
  const { runId, at } = seen;
  const sent = new Map(rejections.map((rejection) => [hashOf(rejection.raw), rejection]));
  for (const row of open) {
    const spokenFor = scope === 'all' || scope === row.seenBy;
    if (!sent.delete(row.raw_hash) && spokenFor) {
      db.update(rejectedLeagues).set({ resolved_at: at }).where(eq(rejectedLeagues.id, row.id)).run();
    }
  }
  if (sent.size === 0) return;
  const add = db
    .insert(rejectedLeagues)
    .values({
      first_run_id: runId,
      first_seen_at: at,
      scope,
      league_id: placeholder('leagueId'),
      position: placeholder('position'),
      problems: placeholder('problems'),
      raw: placeholder('raw'),
      raw_hash: placeholder('rawHash'),
    })
    .onConflictDoUpdate({ target: rejectedLeagues.raw_hash, set: { resolved_at: null, scope } })
    .prepare();
  for (const [rawHash, { problems, ...rejection }] of sent) {
    add.run({ ...rejection, rawHash, problems: JSON.stringify(problems) });
  }
}
