import * as z from 'zod/mini';

// What the service answers, in the order of its interface. `optional` is what may be absent or null. A value of another
// type is read if that loses nothing (service/coerce.ts); what departs from this page is noted as drift.

/** What a login does not fail for. */
const welcome = z.catch(z.optional(z.string()), undefined);

/** The answer to a successful login (2.1). */
export const LOGIN_RESULT = z.looseObject({
  result: z.literal('success'),
  message: welcome,
  player_id: welcome,
  /** Nothing else can stand in a header. */
  access_token: z.string().check(z.regex(/^[\x21-\x7e]+$/)),
  refresh_token: welcome,
  expire_datetime: welcome,
});

/** The logged-in player (2.2). Which fields may be absent is not shown, so only the key is required. */
const PLAYER = z.object({
  player_id: z.string(),
  username: z.optional(z.string()),
  email: z.optional(z.string()),
  type: z.optional(z.string()),
  verified: z.optional(z.boolean()),
  profile_pic: z.optional(z.string()),
  first_name: z.optional(z.string()),
  last_name: z.optional(z.string()),
});

/** A league (2.3). Its field names are the interface's everywhere: in code, columns and feed. */
const LEAGUE = z.object({
  league_id: z.string(),
  league_name: z.string(),
  sport: z.string(),
  league_image: z.string(),
  priority: z.number(),
  status: z.string(),
  sport_db_id: z.optional(z.string()),
  active_season_type: z.optional(z.string()),
  active_year: z.optional(z.string()),
  external_id: z.optional(z.string()),
  external_odds_id: z.optional(z.string()),
  default_markets: z.optional(z.array(z.unknown())),
  default_tournaments: z.optional(z.boolean()),
  rankings: z.optional(z.boolean()),
  active_poll: z.optional(z.string()),
  state: z.optional(z.string()),
  city: z.optional(z.string()),
  create_datetime: z.unknown(),
  last_update_datetime: z.unknown(),
});

/** The answer to a request for the profile (4.2); every answer may carry a `result` (7). */
export const PROFILE_ANSWER = z.object({
  result: z.optional(z.string()),
  message: z.string(),
  player: PLAYER,
  player_premium_items: z.array(z.unknown()),
});

/** The answer to a request for the leagues (4.3). */
export const LEAGUES_ANSWER = z.object({
  result: z.optional(z.string()),
  message: z.string(),
  leagues: z.array(LEAGUE),
  timestamp: z.unknown(),
});

/** JSON kept as text, so that no digit and no order of keys is lost on the way through. */
export type JsonText = string;

/** A field's value in the form of its column (flags apart, which SQLite knows as 0 and 1). */
export type FieldValue = string | number | bigint | boolean | null;

/**
 * What a column holds. `json` is the interface's list, whatever comes in its place; `scalar` is its "any": a string, a
 * number, or the JSON of anything else as text.
 */
export type FieldType = 'text' | 'number' | 'flag' | 'json' | 'scalar';

/** One field of the interface. One that is `expected` may be missing, which is drift all the same. */
export type Field<Name extends string = string> = {
  readonly name: Name;
  readonly type: FieldType;
  readonly presence: 'required' | 'expected' | 'optional';
};

type ColumnValue<T> = unknown extends T
  ? string | number | bigint | null
  :
      | (NonNullable<T> extends readonly unknown[]
          ? JsonText
          : NonNullable<T> extends number
            ? number | bigint
            : NonNullable<T>)
      | (undefined extends T ? null : never);

type Columns<T> = { readonly [Name in keyof T]-?: ColumnValue<T[Name]> };

/** `extra` is a JSON object: fields that the interface does not name, and optional values that fit no column type. */
type Extra = { readonly extra: JsonText };

/** A league, every field in the form of its column. */
export type League = Columns<z.output<typeof LEAGUE>> & Extra;

/** The player and the profile's premium items, every field in the form of its column. */
export type Player = Columns<z.output<typeof PLAYER>> & { readonly premium_items: JsonText | null } & Extra;

const COLUMN_TYPES: Readonly<Record<string, FieldType>> = {
  string: 'text',
  number: 'number',
  boolean: 'flag',
  array: 'json',
};

const EXTRA = { name: 'extra', type: 'json', presence: 'required' } as const;

/** The 19 fields of a league, in the order of the interface. */
export const LEAGUE_FIELDS = fieldsOf(LEAGUE);

/** What makes up a whole league in the change feed: the 19 fields and `extra`. */
export const LEAGUE_MEMBERS: readonly Field<keyof League>[] = [...LEAGUE_FIELDS, EXTRA];

export const PLAYER_FIELDS = fieldsOf(PLAYER);

/** All of a player that is stored and compared. */
export const PLAYER_MEMBERS: readonly Field<keyof Player>[] = [
  ...PLAYER_FIELDS,
  { name: 'premium_items', type: 'json', presence: 'optional' },
  EXTRA,
];

function fieldsOf<Shape extends z.core.$ZodShape>({
  shape,
}: z.ZodMiniObject<Shape>): readonly Field<keyof Shape & string>[] {
  return Object.entries(shape).map(([name, schema]) => {
    const isOptional = schema instanceof z.ZodMiniOptional;
    const type = COLUMN_TYPES[(isOptional ? schema._zod.def.innerType : schema)._zod.def.type] ?? 'scalar';
    return { name, type, presence: isOptional ? 'optional' : type === 'scalar' ? 'expected' : 'required' };
  });
}
