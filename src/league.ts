import { hashOf } from './hash.ts';
import { canonicalValue, type Field, type FieldValue, isSameValue, type JsonText, valueJson } from './record.ts';

/** A league (interface, 2.3), every field in the form of its column. Field names are the interface's everywhere. */
export type League = {
  readonly league_id: string;
  readonly league_name: string;
  readonly sport: string;
  readonly league_image: string;
  readonly priority: number | bigint;
  readonly status: string;
  readonly sport_db_id: string | null;
  readonly active_season_type: string | null;
  readonly active_year: string | null;
  readonly external_id: string | null;
  readonly external_odds_id: string | null;
  readonly default_markets: JsonText | null;
  readonly default_tournaments: boolean | null;
  readonly rankings: boolean | null;
  readonly active_poll: string | null;
  readonly state: string | null;
  readonly city: string | null;
  readonly create_datetime: string | number | bigint | null;
  readonly last_update_datetime: string | number | bigint | null;
  /** A JSON object: fields that the interface does not name, and optional values that fit no column type. */
  readonly extra: JsonText;
};

const required = { presence: 'required' } as const;
const expected = { presence: 'expected' } as const;
const optional = { presence: 'optional' } as const;

/** The 19 fields of a league, in the order of the interface. */
export const LEAGUE_FIELDS: readonly Field<Exclude<keyof League, 'extra'>>[] = [
  { name: 'league_id', type: 'text', ...required },
  { name: 'league_name', type: 'text', ...required },
  { name: 'sport', type: 'text', ...required },
  { name: 'league_image', type: 'text', ...required },
  { name: 'priority', type: 'number', ...required },
  { name: 'status', type: 'text', ...required },
  { name: 'sport_db_id', type: 'text', ...optional },
  { name: 'active_season_type', type: 'text', ...optional },
  { name: 'active_year', type: 'text', ...optional },
  { name: 'external_id', type: 'text', ...optional },
  { name: 'external_odds_id', type: 'text', ...optional },
  { name: 'default_markets', type: 'json', ...optional },
  { name: 'default_tournaments', type: 'flag', ...optional },
  { name: 'rankings', type: 'flag', ...optional },
  { name: 'active_poll', type: 'text', ...optional },
  { name: 'state', type: 'text', ...optional },
  { name: 'city', type: 'text', ...optional },
  { name: 'create_datetime', type: 'scalar', ...expected },
  { name: 'last_update_datetime', type: 'scalar', ...expected },
];

/** What makes up a whole league in the change feed: the 19 fields and `extra`. */
export const LEAGUE_MEMBERS: readonly Field<keyof League>[] = [
  ...LEAGUE_FIELDS,
  { name: 'extra', type: 'json', ...required },
];

/** A league as the change feed writes it: one JSON object with all members. */
export function leagueJson(league: League): JsonText {
  return membersJson(LEAGUE_MEMBERS, league);
}

/** The old values of the members in which two versions of a league differ; `{}` where they do not. */
export function changedMembersJson(before: League, after: League): JsonText {
  const changed = LEAGUE_MEMBERS.filter((field) => !isSameValue(field, before[field.name], after[field.name]));
  return membersJson(changed, before);
}

/** The same for two leagues exactly where no member differs. `json` is the league as the change feed writes it. */
export function contentHash(league: League, json = leagueJson(league)): string {
  const isCanonical = hasOneOrder(league.default_markets) && hasOneOrder(league.extra);
  return hashOf(isCanonical ? json : membersJson(LEAGUE_MEMBERS, league, canonicalValue));
}

/** Whether the keys of this JSON can come in one order alone; where it holds no comma they do. */
function hasOneOrder(json: JsonText | null): boolean {
  return json === null || !json.includes(',');
}

function membersJson(
  fields: readonly Field<keyof League>[],
  league: Readonly<Record<keyof League, FieldValue>>,
  write = valueJson,
): JsonText {
  let json = '{';
  for (const field of fields) {
    json += `${json.length > 1 ? ',' : ''}"${field.name}":${write(field, league[field.name])}`;
  }
  return `${json}}`;
}
