import type Database from 'better-sqlite3';
import { LEAGUE_MEMBERS } from '../../interface.ts';

/** All that is known of one league. */
export type Portrait = {
  /** Its fields and `extra`, as their columns hold them. */
  readonly fields: readonly { readonly name: string; readonly value: Shown }[];
  readonly name: string;
  readonly first_seen_at: string;
  readonly changed_at: string;
  readonly removed_at: string | null;
  readonly held_since: string | null;
};

/** A value, as much of it as anybody reads, and how long it is. */
export type Shown = { readonly text: string | null; readonly length: number };

type Row = Readonly<Record<string, string | number | null>>;

const LONGEST_SHOWN = 2_000;

/** Undefined where there is no league of this id. */
export function readPortrait(db: Database.Database, leagueId: string): Portrait | undefined {
  const columns = LEAGUE_MEMBERS.flatMap(({ name, type }) => {
    const value = type === 'flag' ? `CASE ${name} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END` : `CAST(${name} AS TEXT)`;
    return [`substr(${value}, 1, ${LONGEST_SHOWN}) AS "${name}"`, `length(${name}) AS "${name} length"`];
  });
  const row = db
    .prepare<[string], Row>(
      `SELECT ${columns.join(', ')}, first_seen_at, changed_at, removed_at,
          (SELECT held_since FROM held_removals WHERE held_removals.league_id = leagues.league_id) AS held_since
        FROM leagues WHERE league_id = ?`,
    )
    .get(leagueId);
  if (row === undefined) return undefined;
  const textOf = (name: string): string | null => (row[name] === null ? null : String(row[name]));
  return {
    fields: LEAGUE_MEMBERS.map(({ name }) => ({
      name,
      value: { text: textOf(name), length: Number(row[`${name} length`] ?? 0) },
    })),
    name: textOf('league_name') ?? '',
    first_seen_at: String(row.first_seen_at),
    changed_at: String(row.changed_at),
    removed_at: textOf('removed_at'),
    held_since: textOf('held_since'),
  };
}
