import { type JsonValue, membersOf } from '../league/json.ts';
import { escapeControls } from '../terminal/style.ts';
import { changedFields } from './queries/changed-fields.ts';
import type { Change } from './queries/feed.ts';

// How a change is put into words, without the layout of a terminal.

/** A change that was or would be made: `before` has the old values of the changed fields, `after` the whole league. */
type Told = Pick<Change, 'league_id' | 'league_name' | 'before' | 'after'>;

const MAX_VALUE_LENGTH = 60;

export function describeEntry(entry: Change): string {
  const { seq, at, kind } = entry;
  return `${String(seq).padStart(6)}  ${at}  ${kind.padEnd(8)}  ${describeLeague(entry)}`;
}

export function describeLeague(change: Told): string {
  const what = describeFields(change);
  return escapeControls(`${nameBefore(change)} (${change.league_id})${what && `: ${what}`}`);
}

/** The name under which a reader knows the league: its old name if the change renamed it. */
export function nameBefore({ league_name, before }: Told): string | null {
  const renamed = membersOf(before).league_name;
  return renamed === undefined ? league_name : String(renamed);
}

/** Such as `status "active" -> "inactive", priority 1 -> 2`. */
export function describeFields(change: Told): string {
  return changedFields(change)
    .map(({ field, old, now }) => `${field} ${formatQuotedValue(old)} -> ${formatQuotedValue(now)}`)
    .join(', ');
}

function formatQuotedValue(value: JsonValue): string {
  const characters = [...JSON.stringify(value)];
  const rest = characters.length > MAX_VALUE_LENGTH ? '…' : '';
  return characters.slice(0, MAX_VALUE_LENGTH).join('') + rest;
}

/** Quotes a text only if it is ambiguous: empty, `null`, with a space at either end, or with an arrow in it. */
export function formatBareValue(value: JsonValue): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return /^$|^null$|^\s|\s$|\u2192/.test(value) ? `"${value}"` : value;
}
