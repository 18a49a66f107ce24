import type { RunCounts } from '../../../src/sync/report.ts';
import type { Row } from '../../support/database.ts';
import { makeLeague, makeLeagues } from '../../support/leagues.ts';
import type { SweepBench } from './bench.ts';
import type { Lists } from './response.ts';

const BAD = makeLeague('bad', { priority: 'high' });

/** The two lists differ by every kind of change, with few enough removals for the guard. */
export const LISTS: Lists = {
  old: {
    leagues: [...makeLeagues(12), makeLeague('odd', { nickname: 'a new field' }), BAD],
    player: { player_id: 'p1', username: 'old' },
  },
  new: {
    leagues: [
      ...makeLeagues(4, { sport: 'chess', default_markets: { a: [1] } }),
      ...makeLeagues(11).slice(4),
      makeLeague('new', { motto: 'another new field', league_name: 'Größe' }),
      makeLeague('worse', { league_name: null }),
      BAD,
    ],
    player: { player_id: 'p1', username: 'new' },
  },
};
export const TO_NEW = { received: 14, added: 1, changed: 4, removed: 2, rejected: 2, unchanged: 7 };

/** The stored data without timestamps and run ids, independent of the number of attempts. */
export type State = Readonly<Record<'leagues' | 'feed' | 'rest' | 'players', readonly Row[]>> & {
  readonly drift: readonly string[];
};

/** The state after a visit to a healthy service, and the counts of its poll and of one more. */
export type VisitResult = { readonly state: State; readonly counts: RunCounts; readonly again: RunCounts };

export async function visit(bench: SweepBench): Promise<VisitResult> {
  const { counts } = await bench.poll();
  await bench.pollProfile();
  const state = stateOf(bench);
  const { counts: again } = await bench.poll();
  await bench.flush();
  return { state, counts, again };
}

export function stateOf({ read: ask }: SweepBench): State {
  const read = (table: string): readonly Row[] => ask(`SELECT * FROM ${table}`).map(timeless);
  const drift = ask("SELECT field || ' ' || kind AS it FROM drift ORDER BY it");
  return {
    leagues: read('leagues ORDER BY league_id'),
    feed: read('league_changes ORDER BY seq'),
    rest: [...read('rejected_leagues ORDER BY raw'), ...read('held_removals')],
    players: read('players'),
    drift: drift.map(({ it }) => String(it)),
  };
}

const NUMBERS_OF_RUNS = new Set(['run_id', 'first_run_id']);

function timeless(row: Row): Row {
  const kept = Object.entries(row).filter(([name]) => !NUMBERS_OF_RUNS.has(name));
  const marked = kept.map(([name, value]) => [name, name === 'at' || name.endsWith('_at') ? value !== null : value]);
  return Object.fromEntries(marked);
}

/** Every row of every table, with timestamps, except the tables of runs and logins. */
export function everythingStored({ read }: SweepBench): Readonly<Record<string, readonly Row[]>> {
  const tables = read("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").map(({ name }) =>
    String(name),
  );
  const kept = tables.filter((name) => !TRIED.has(name));
  return Object.fromEntries(kept.map((name) => [name, read(`SELECT * FROM "${name}"`)]));
}

/** Tables of attempts, and the data dictionary, which polls do not write. */
const TRIED = new Set(['runs', 'logins', 'sqlite_sequence', 'data_dictionary']);
