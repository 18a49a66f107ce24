import { hash } from 'node:crypto';
import { type Field, type FieldValue, type JsonText, LEAGUE_MEMBERS, type League } from './interface.ts';
import { canonicalJson, parseJson } from './json.ts';

/** A league as the change feed writes it: one JSON object with all members. */
export function leagueJson(league: League): JsonText {
  return membersJson(LEAGUE_MEMBERS, league);
}

/** The old values of the members in which two versions of a league differ; `{}` if none does. */
export function changedMembersJson(before: League, after: League): JsonText {
  const changed = LEAGUE_MEMBERS.filter((field) => !isSameValue(field, before[field.name], after[field.name]));
  return membersJson(changed, before);
}

function membersJson(fields: readonly Field<keyof League>[], league: League): JsonText {
  let json = '{';
  for (const field of fields) {
    json += `${json.length > 1 ? ',' : ''}"${field.name}":${valueJson(field, league[field.name])}`;
  }
  return `${json}}`;
}

/** The JSON of one value, as the change feed embeds it: JSON columns unquoted, integers with all their digits. */
export function valueJson(field: Field, value: FieldValue): string {
  if (value === null) return 'null';
  if (field.type === 'json') return String(value);
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}

/** The same for two leagues exactly if no member differs. */
export function contentHash(league: League): string {
  const content: unknown[] = [];
  for (const { name, type } of LEAGUE_MEMBERS) {
    const value = league[name];
    if (type === 'json') content.push(inOneOrder(value));
    else content.push(typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value);
  }
  return hash('sha256', JSON.stringify(content), 'base64url');
}

/** Whether two values of a field count as the same: the order of keys inside JSON is no difference. */
export function isSameValue(field: Field, one: FieldValue, other: FieldValue): boolean {
  return one === other || (field.type === 'json' && inOneOrder(one) === inOneOrder(other));
}

/** JSON with its keys sorted; without a comma in it they can come in one order only. */
function inOneOrder(json: FieldValue): FieldValue {
  return typeof json === 'string' && json.includes(',') ? canonicalJson(parseJson(json)) : json;
}
