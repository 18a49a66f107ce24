import type Database from 'better-sqlite3';
import { differingMembers, isObject, type JsonValue, membersOf } from '../../league/json.ts';
import { withReader } from '../connection.ts';
import type { Change } from './feed.ts';

export type ChangedField = { readonly field: string; readonly old: JsonValue; readonly now: JsonValue };

export type Step = Pick<Change, 'before' | 'after'>;

/** Without `last_update_datetime` if other fields changed too. None if the league is added or removed. */
export function changedFields({ before, after }: Step): readonly ChangedField[] {
  if (before === null || after === null) return [];
  const members = membersOf(after);
  const fields = Object.entries(membersOf(before)).map(([field, old]) => ({ field, old, now: members[field] ?? null }));
  const significant = fields.filter(({ field }) => field !== 'last_update_datetime');
  return significant.length === 0 ? fields : significant;
}

/** The fields that differ, as `[field]`; of `extra` its members, as `['extra', member]`. */
export function changedPaths({ before, after }: Step): readonly (readonly string[])[] {
  const [old, now] = [membersOf(before), membersOf(after)];
  return Object.keys(old).flatMap((field) => {
    if (!isObject(old.extra) || !isObject(now.extra) || field !== 'extra') return [[field]];
    return differingMembers(old.extra, now.extra).map((member) => ['extra', member]);
  });
}

const MAX_NAME_LENGTH = 200;

/** How often each name is there, most first. */
function countNames(names: readonly string[]) {
  const counts = [...Map.groupBy(names.toSorted(), (name) => name)];
  const fields = counts.map(([field, { length: leagues }]) => ({ field, leagues }));
  return fields.toSorted((one, other) => other.leagues - one.leagues);
}

const FIELDS_NAMED = 4;

/** The fields in which most of the leagues differ that were changed at this time. */
export function countFields(db: Database.Database, at: string) {
  const sql = "SELECT before, after FROM league_changes WHERE at = ? AND kind = 'changed'";
  const paths = Array.from(db.prepare<[string], Step>(sql).iterate(at), changedPaths).flat();
  const names = paths.map((path) => path.join('.').slice(0, MAX_NAME_LENGTH));
  return countNames(names.filter((name) => name !== 'last_update_datetime')).slice(0, FIELDS_NAMED);
}

const CHANGES_COMPARED = 1_000;
const FEWEST_COMPARED = 100;
const NOISY_SHARE = 0.9;

/** The field in which alone nine tenths of the last 1,000 changes differ; undefined if there is none. */
export function findNoisyField(path: string) {
  const sql = `SELECT iif(kind = 'changed', before, NULL) AS before, after FROM league_changes
    ORDER BY seq DESC LIMIT ${CHANGES_COMPARED}`;
  const found = withReader(path, (db) => db.prepare<[], Step>(sql).all());
  const alone = found.map(changedPaths).filter((paths) => paths.length === 1);
  const [most] = countNames(alone.map(([path]) => path?.at(-1) ?? ''));
  if (most === undefined || found.length < FEWEST_COMPARED || most.leagues < NOISY_SHARE * found.length)
    return undefined;
  return { field: most.field, changes: most.leagues, of: found.length };
}
