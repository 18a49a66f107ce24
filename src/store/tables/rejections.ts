import { hash } from 'node:crypto';
import { eq, isNull, placeholder } from 'drizzle-orm';
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

export type RejectionRows = {
  /**
   * Opens new rejections, reopens returned ones, and resolves those that were not sent again, as far as a poll of this
   * scope can tell. What stays as it is costs no write. Gives those that are news: opened or reopened, and of no league
   * that had an open one before, since the rest of a rejected element may change at every poll.
   */
  readonly settle: <R extends RejectionRow>(rejections: readonly R[], scope: RunScope, seen: Sighting) => readonly R[];
};

export function createRejectionRows(db: BetterSQLite3Database): RejectionRows {
  const { id, league_id: leagueId, raw_hash, scope: seenBy } = rejectedLeagues;
  const selectOpen = db
    .select({ id, leagueId, raw_hash, seenBy })
    .from(rejectedLeagues)
    .where(isNull(rejectedLeagues.resolved_at))
    .prepare();
  return { settle: (rejections, scope, seen) => settle(db, selectOpen.all(), { rejections, scope, seen }) };
}

type Open = Pick<typeof rejectedLeagues.$inferSelect, 'id' | 'raw_hash'> & {
  readonly leagueId: string | null;
  readonly seenBy: RunScope;
};
type Sent<R> = {
  readonly rejections: readonly R[];
  readonly scope: RunScope;
  readonly seen: Sighting;
};

function settle<R extends RejectionRow>(
  db: BetterSQLite3Database,
  open: readonly Open[],
  { rejections, scope, seen }: Sent<R>,
): readonly R[] {
  const { runId, at } = seen;
  const all = rejections.map((rejection) => [hash('sha256', rejection.raw, 'base64url'), rejection] as const);
  const sent = new Map(all);
  for (const row of open) {
    const spokenFor = scope === 'all' || scope === row.seenBy;
    if (!sent.delete(row.raw_hash) && spokenFor) {
      db.update(rejectedLeagues).set({ resolved_at: at }).where(eq(rejectedLeagues.id, row.id)).run();
    }
  }
  if (sent.size === 0) return [];
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
  const before = new Set(open.map(({ leagueId }) => leagueId));
  const isNews = ({ leagueId }: R): boolean => leagueId === null || !before.has(leagueId);
  return all.flatMap(([rawHash, rejection]) => (sent.has(rawHash) && isNews(rejection) ? [rejection] : []));
}
