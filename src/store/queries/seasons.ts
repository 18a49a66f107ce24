import type Database from 'better-sqlite3';
import { untilFeedGrows } from './feed.ts';

/** What the service said of the season of a league from `at` on; `status` is null while the league was not listed. */
export type SeasonStep = { readonly at: string; readonly status: string | null; readonly season: string | null };

/** More changes of a league are not read. */
const MAX_STEPS = 1_000;
const MAX_CHARS = 200;

/** Every change of a league since a timestamp, and the last one before it, oldest first. */
export function readSeasons(db: Database.Database, leagueId: string, since: string): readonly SeasonStep[] {
  const sql = `SELECT at, substr(after ->> '$.status', 1, ${MAX_CHARS}) AS status,
      substr(after ->> '$.active_season_type', 1, ${MAX_CHARS}) AS season
    FROM league_changes WHERE league_id = @leagueId AND at >= coalesce(
      (SELECT at FROM league_changes WHERE league_id = @leagueId AND at < @since ORDER BY at DESC LIMIT 1), @since)
    ORDER BY at DESC, seq DESC LIMIT ${MAX_STEPS}`;
  return db.prepare<[object], SeasonStep>(sql).all({ leagueId, since }).reverse();
}

type Named = { readonly league_id: string; readonly league_name: string };
/** Listed leagues of one sport, of which the first are named. */
export type SportLeagues = { readonly sport: string; readonly leagues: number; readonly first: readonly Named[] };

export type SeasonOverview = ReturnType<typeof readOverview>;

const NAMED = 3;
const TOP_LEAGUES = 10;
/** Longer lists are not grouped by season: that would take a tenth of a second after each change. */
const MOST_GROUPED = 20_000;
/** A season that ended earlier is no news. */
const LATELY_MS = 30 * 86_400_000;
const LEAGUES = `SELECT league_id, substr(league_name, 1, ${MAX_CHARS}) AS league_name, substr(sport, 1, ${MAX_CHARS}) AS sport`;
const BY_PRIORITY = 'ORDER BY priority, league_name COLLATE NOCASE, league_id';

export type Phase = 'pre' | 'on' | 'late' | 'off';

/** What a season is by its name; undefined where the service sends none. `off`: the league is not active. */
export function phaseOf(status: string, season: string | null): Phase | undefined {
  if (status !== 'active') return 'off';
  if (!season?.trim()) return undefined;
  if (/^(pre|quali)/i.test(season)) return 'pre';
  return /play|knock|final/i.test(season) ? 'late' : 'on';
}

/** Reading which leagues are in season reads every league. */
export const createSeasonReader = () => untilFeedGrows(readOverview);

/** By the data alone: a league without a season in it is in no group. */
function readOverview(db: Database.Database, today: string, since: string) {
  type League = Named & { readonly sport: string };
  const found = db
    .prepare<[object], League & { readonly status: string; readonly season: string; readonly hasEnded: number }>(
      `${LEAGUES}, status, substr(active_season_type, 1, ${MAX_CHARS}) AS season, status <> 'active'
          AND changed_at >= @lately AND EXISTS (SELECT 1 FROM league_changes AS change WHERE change.league_id = leagues.league_id
            AND change.at >= @lately AND change.before ->> '$.status' = 'active') AS hasEnded
        FROM leagues WHERE removed_at IS NULL AND trim(active_season_type) <> ''
          AND (SELECT count(*) FROM leagues) <= ${MOST_GROUPED} ${BY_PRIORITY}`,
    )
    .all({ lately: new Date(Date.parse(today) - LATELY_MS).toISOString() });
  const groups = Map.groupBy(found, ({ status, season, hasEnded }) => {
    const phase = phaseOf(status, season);
    if (phase === 'off') return hasEnded === 1 ? 'ended' : 'over';
    return phase === 'pre' ? 'soon' : 'now';
  });
  const bySport = (leagues: readonly League[] = []): readonly SportLeagues[] =>
    [...Map.groupBy(leagues, ({ sport }) => sport)]
      .map(([sport, all]) => ({ sport, leagues: all.length, first: all.slice(0, NAMED) }))
      .toSorted((one, other) => other.leagues - one.leagues || (one.sport < other.sport ? -1 : 1));
  const top = db.prepare<[], League>(
    `${LEAGUES} FROM leagues WHERE removed_at IS NULL ${BY_PRIORITY} LIMIT ${TOP_LEAGUES}`,
  );
  return {
    now: bySport(groups.get('now')),
    soon: bySport(groups.get('soon')),
    ended: bySport(groups.get('ended')),
    /** The first leagues by the service's own order. */
    top: top.all().map((league) => ({ ...league, steps: readSeasons(db, league.league_id, since) })),
  };
}
