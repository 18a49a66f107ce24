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
/** As `isBeforeSeason`. */
const IS_BEFORE = "(active_season_type LIKE 'pre%' OR active_season_type LIKE 'quali%')";
/** Whether a season of this type is still to come, by its name. */
export const isBeforeSeason = (season: string): boolean => /^(pre|quali)/i.test(season);
/** A season that ended earlier is no news. */
const LATELY_MS = 30 * 86_400_000;
const BY_PRIORITY = 'priority, league_name COLLATE NOCASE, league_id';

/** Reading which leagues are in season reads every league. */
export const createSeasonReader = () => untilFeedGrows(readOverview);

/** By the data alone: a league without a season in it is in no group. */
function readOverview(db: Database.Database, today: string, since: string) {
  const lately = new Date(Date.parse(today) - LATELY_MS).toISOString();
  const isLong = Number(db.prepare('SELECT count(*) FROM leagues').pluck().get()) > MOST_GROUPED;
  const group = (condition: string): readonly SportLeagues[] => {
    if (isLong) return [];
    const sql = `SELECT substr(sport, 1, ${MAX_CHARS}) AS sport, league_id, substr(league_name, 1, ${MAX_CHARS}) AS league_name,
        count(*) OVER (PARTITION BY sport) AS leagues, row_number() OVER (PARTITION BY sport ORDER BY ${BY_PRIORITY}) AS place
      FROM leagues WHERE removed_at IS NULL AND active_season_type <> '' AND ${condition}`;
    const rows = db
      .prepare<[object], Named & { readonly sport: string; readonly leagues: number }>(
        `SELECT * FROM (${sql}) WHERE place <= ${NAMED} ORDER BY leagues DESC, sport, place`,
      )
      .all({ lately });
    const sports = Map.groupBy(rows, ({ sport }) => sport);
    return [...sports].map(([sport, first]) => ({ sport, leagues: first[0]?.leagues ?? 0, first }));
  };
  const top = db
    .prepare<[], Named & { readonly sport: string }>(
      `SELECT league_id, substr(league_name, 1, ${MAX_CHARS}) AS league_name, substr(sport, 1, ${MAX_CHARS}) AS sport
      FROM leagues WHERE removed_at IS NULL ORDER BY ${BY_PRIORITY} LIMIT ${TOP_LEAGUES}`,
    )
    .all();
  return {
    now: group(`status = 'active' AND NOT ${IS_BEFORE}`),
    soon: group(`status = 'active' AND ${IS_BEFORE}`),
    ended: group(`status <> 'active' AND changed_at >= @lately AND EXISTS (SELECT 1 FROM league_changes AS change
      WHERE change.league_id = leagues.league_id AND change.at >= @lately AND change.before ->> '$.status' = 'active')`),
    /** The first leagues by the service's own order. */
    top: top.map((league) => ({ ...league, steps: readSeasons(db, league.league_id, since) })),
  };
}
