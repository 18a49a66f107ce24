import * as z from 'zod/mini';

// The responses of the service. Unknown fields are drift. In a league or a player, an optional field may be absent or
// null, and a value with a type other than the declared one is drift; service/detect-drift.ts converts such a value if the
// conversion loses nothing.

/** A field of the login response: an invalid value becomes undefined, so that the login does not fail. */
const optionalString = z.catch(z.optional(z.string()), undefined);

/** No server accepts a longer token in a header. */
const MAX_TOKEN_LENGTH = 16_384;

/** The response to a successful login (interface, 2.1). */
export const LOGIN_RESPONSE = z.looseObject({
  result: z.literal('success'),
  message: optionalString,
  player_id: optionalString,
  /** Printable ASCII without spaces, so that it can be sent in a header. */
  access_token: z.string().check(z.regex(/^[\x21-\x7e]+$/), z.maxLength(MAX_TOKEN_LENGTH)),
  refresh_token: z.catch(z.optional(z.string().check(z.maxLength(MAX_TOKEN_LENGTH))), undefined),
  expire_datetime: optionalString,
});

/** A player (interface, 2.2). The interface does not say which fields are required; here, only `player_id` is. */
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

/** The statuses that the interface names (4.3). A league may have another one, which is drift. */
export const LEAGUE_STATUSES: readonly unknown[] = ['active', 'inactive'];

/** A league (interface, 2.3). The database columns and the change feed use the same field names. */
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

/** The profile response (interface, 4.2). Like any response, it may have a `result` (interface, 7). */
export const PROFILE_RESPONSE = z.object({
  result: z.optional(z.string()),
  message: z.string(),
  player: PLAYER,
  player_premium_items: z.array(z.unknown()),
});

/** The leagues response (interface, 4.3). */
export const LEAGUES_RESPONSE = z.object({
  result: z.optional(z.string()),
  message: z.string(),
  leagues: z.array(LEAGUE),
  timestamp: z.unknown(),
});

/** JSON as text, so that long numbers keep all their digits. */
export type JsonText = string;

/** A value as its column stores it, except that SQLite stores booleans as 0 and 1. */
export type FieldValue = string | number | bigint | boolean | null;

/** `json`: a list, or any other JSON sent instead. `scalar` ("any" in the interface): text, number or JSON as text. */
export type FieldType = 'text' | 'number' | 'flag' | 'json' | 'scalar';

export type Field<Name extends string = string> = {
  readonly name: Name;
  readonly type: FieldType;
  /** An `expected` field may be missing, but its absence is drift. */
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

/** `extra` is a JSON object with the unknown fields and the optional values that do not fit their columns. */
type Extra = { readonly extra: JsonText };

export type League = Columns<z.output<typeof LEAGUE>> & Extra;

export type Player = Columns<z.output<typeof PLAYER>> & { readonly premium_items: JsonText | null } & Extra;

const COLUMN_TYPES: Readonly<Record<string, FieldType>> = {
  string: 'text',
  number: 'number',
  boolean: 'flag',
  array: 'json',
};

const EXTRA = { name: 'extra', type: 'json', presence: 'required' } as const;

export const LEAGUE_FIELDS = fieldsOf(LEAGUE);

/** The members of a league in the change feed. */
export const LEAGUE_MEMBERS: readonly Field<keyof League>[] = [...LEAGUE_FIELDS, EXTRA];

export const PLAYER_FIELDS = fieldsOf(PLAYER);

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
