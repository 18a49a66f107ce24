import { UsageError } from '../errors.ts';
import { withReader } from '../store/connection.ts';
import { hasLeague } from '../store/queries/feed.ts';
import { findByName } from '../store/queries/leagues.ts';

/** The id of the league with this id or, if there is none, with this name. Throws a UsageError unless there is one. */
export function findLeagueId(path: string, idOrName: string): string {
  const named = withReader(path, (db) => (hasLeague(db, idOrName) ? idOrName : findByName(db, idOrName)));
  if (typeof named === 'string') return named;
  const [league] = named;
  if (league === undefined) throw new UsageError(`There is no league with the id or the name "${idOrName}".`);
  if (named.length === 1) return league.league_id;
  const listed = named.map(
    ({ league_id, sport, removed_at }) => `${league_id} (${sport}${removed_at ? ', removed' : ''})`,
  );
  throw new UsageError(
    `${named.length} leagues have the name "${idOrName}"; use the league_id of one: ${listed.join(', ')}.`,
  );
}
