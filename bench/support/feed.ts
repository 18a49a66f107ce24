import Database from 'better-sqlite3';
import { openTestStore } from '../../test/support/store.ts';
import type { SentLeague } from './leagues.ts';

const EVERY_MS = 20_000;
const BEGIN_MS = Date.parse('2026-01-01T00:00:00.000Z');

/** When the change with this index was stored. */
export const instantOf = (index: number): string => new Date(BEGIN_MS + index * EVERY_MS).toISOString();

/**
 * Makes a database with so many changes, by hand, in the form in which the worker writes it. Every league changes its
 * priority in turn; a tenth of the changes are removals and returns.
 */
export async function makeFeed(path: string, leagues: readonly SentLeague[], changes: number): Promise<void> {
  const store = await openTestStore(path);
  await store[Symbol.asyncDispose]();
  const db = new Database(path);
  db.pragma('journal_mode = OFF');
  db.pragma('synchronous = OFF');
  const insertChange = db.prepare(
    'INSERT INTO league_changes (run_id, at, league_id, kind, before, after) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const insertLeague = db.prepare(
    `INSERT INTO leagues (league_id, league_name, sport, league_image, priority, status, first_seen_at, changed_at, content_hash)
      VALUES (@league_id, @league_name, @sport, @league_image, 1, @status, @at, @at, '')`,
  );
  db.transaction(() => {
    for (let index = 0; index < changes; index += 1) {
      const [round, place] = [Math.floor(index / leagues.length), index % leagues.length];
      const league_id = leagues[place]?.league_id;
      const league = { ...leagues[place], league_id, priority: round, extra: {} };
      const at = instantOf(index);
      if (round === 0) insertLeague.run({ ...league, at });
      const [kind, before, after] = describe(league, round, place);
      insertChange.run(BigInt(round + 1), at, league_id, kind, before, after);
    }
  })();
  db.close();
}

function describe(
  league: Readonly<Record<string, unknown>>,
  round: number,
  place: number,
): readonly [string, string | null, string | null] {
  const whole = JSON.stringify(league);
  const stage = (round + place) % 20;
  if (round === 0) return ['added', null, whole];
  if (stage === 18) return ['removed', whole, null];
  return [stage === 19 ? 'restored' : 'changed', JSON.stringify({ priority: round - 1 }), whole];
}
