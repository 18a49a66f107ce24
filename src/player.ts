import type { Field, JsonText } from './record.ts';

/** The logged-in player (interface, 2.2) with the profile's premium items, every field in the form of its column. */
export type Player = {
  readonly player_id: string;
  readonly username: string | null;
  readonly email: string | null;
  readonly type: string | null;
  readonly verified: boolean | null;
  readonly profile_pic: string | null;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly premium_items: JsonText | null;
  readonly extra: JsonText;
};

const optional = { presence: 'optional' } as const;

/** Which fields may be absent is not shown by the interface, so only the key is required. */
export const PLAYER_FIELDS: readonly Field<Exclude<keyof Player, 'extra' | 'premium_items'>>[] = [
  { name: 'player_id', type: 'text', presence: 'required' },
  { name: 'username', type: 'text', ...optional },
  { name: 'email', type: 'text', ...optional },
  { name: 'type', type: 'text', ...optional },
  { name: 'verified', type: 'flag', ...optional },
  { name: 'profile_pic', type: 'text', ...optional },
  { name: 'first_name', type: 'text', ...optional },
  { name: 'last_name', type: 'text', ...optional },
];

/** Everything of a player that is stored and compared. */
export const PLAYER_MEMBERS: readonly Field<keyof Player>[] = [
  ...PLAYER_FIELDS,
  { name: 'premium_items', type: 'json', ...optional },
  { name: 'extra', type: 'json', presence: 'required' },
];
