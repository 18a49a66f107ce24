import { ContractError } from '../errors.ts';
import type { Drift } from '../league/drift.ts';
import { isDeeperThan, isObject, type JsonObject, MAX_DEPTH, typeName } from '../league/json.ts';
import { PLAYER_FIELDS, type Player, PROFILE_RESPONSE } from '../league/response-schemas.ts';
import { readFields, unknownFields } from './detect-drift.ts';

/** Throws a ContractError if a profile response (interface, 4.2) is nested too deeply or has no usable player. */
export function parseProfile(body: JsonObject): { readonly player: Player; readonly drift: readonly Drift[] } {
  const { player: sent, player_premium_items: items } = body;
  if (isDeeperThan(body, MAX_DEPTH)) throw new ContractError('The profile response is nested too deeply.');
  if (!isObject(sent)) throw new ContractError(`The profile response has no player (${typeName(sent)} in "player").`);
  const { values, problems, drift } = readFields(PLAYER_FIELDS, sent, 'player.');
  drift.push(...unknownFields(body, PROFILE_RESPONSE.shape, 'player'));
  const problem = values.player_id === '' ? { path: 'player_id', message: 'is empty' } : problems[0];
  if (problem !== undefined) throw new ContractError(`The profile response's ${problem.path} ${problem.message}.`);
  if (!Array.isArray(items)) {
    const kind = items === undefined ? 'missing-field' : 'wrong-type';
    drift.push({ field: 'player.player_premium_items', kind, detail: `${typeName(items)} for list` });
  }
  const premiumItems = items === undefined || items === null ? null : JSON.stringify(items);
  const { extra, ...fields } = values;
  return { player: { ...fields, premium_items: premiumItems, extra } as Player, drift };
}
