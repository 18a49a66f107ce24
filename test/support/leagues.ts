import type { JsonObject } from '../../src/league/json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A league with every required field, as the service sends it. */
export function makeLeague(id: string, fields: Fields = {}): JsonObject {
  return {
    league_id: id,
    league_name: `League ${id}`,
    sport: 'soccer',
    league_image: `https://images.example.com/${id}.png`,
    priority: 3,
    status: 'active',
    create_datetime: '2020-01-01T00:00:00Z',
    last_update_datetime: null,
    ...fields,
  } as JsonObject;
}

/** The leagues l1 to l3, for example. */
export function makeLeagues(count: number, fields: Fields = {}): readonly JsonObject[] {
  return Array.from({ length: count }, (_, index) => makeLeague(`l${index + 1}`, fields));
}
