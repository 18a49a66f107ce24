import { createDriftLog, type Drift } from '../drift.ts';
import { ContractError } from '../errors.ts';
import { PLAYER_FIELDS, type Player, PROFILE_ANSWER } from '../interface.ts';
import { DEEPEST_JSON, isDeeperThan, isObject, type JsonObject, typeName } from '../json.ts';
import { readFields, unknownFields } from './coerce.ts';

/** Reads a profile answer (interface, 4.2). Throws a ContractError where it names no player. */
export function parseProfile(answer: JsonObject): { readonly player: Player; readonly drift: readonly Drift[] } {
  const sent = answer.player;
  if (isDeeperThan(answer, DEEPEST_JSON))
    throw new ContractError('The profile answer is nested too deeply to be kept.');
  if (!isObject(sent)) throw new ContractError(`The profile answer holds no player (${typeName(sent)} in "player").`);
  const drift = createDriftLog();
  const { values, problems, drift: departures } = readFields(PLAYER_FIELDS, sent, 'player.');
  drift.note(departures);
  drift.note(unknownFields(answer, Object.keys(PROFILE_ANSWER.shape), 'player'));
  const problem = values.player_id === '' ? { path: 'player_id', message: 'is empty' } : problems[0];
  if (problem !== undefined) throw new ContractError(`The profile answer's ${problem.path} ${problem.message}.`);

  const items = answer.player_premium_items;
  if (!Array.isArray(items)) {
    const kind = items === undefined ? 'missing-field' : 'wrong-type';
    drift.note([{ field: 'player.player_premium_items', kind, detail: `${typeName(items)} for list` }]);
  }
  const premiumItems = items === undefined || items === null ? null : JSON.stringify(items);
  return { player: { ...values, premium_items: premiumItems } as Player, drift: drift.list() };
}
