import { type FieldType, LEAGUE_MEMBERS } from '../interface.ts';
import { type FeedEntry, tellingOf } from '../store/queries/feed.ts';
import { visible } from '../terminal/style.ts';

const LONGEST_VALUE = 60;

/** One field of a league that changed: its values as the columns hold them. */
export type ChangedField = FeedEntry['fields'][number];

/** A change of the feed as one line of a pipe. */
export function describeEntry({ seq, at, kind, ...entry }: FeedEntry): string {
  return `${String(seq).padStart(6)}  ${at}  ${kind.padEnd(8)}  ${describeLeague(entry)}`;
}

/** A league, and what changed of it, in one line. */
export function describeLeague({
  league_name,
  league_id,
  fields,
}: Pick<FeedEntry, 'league_name' | 'league_id' | 'fields'>): string {
  const what = describeFields(fields);
  return visible(`${league_name} (${league_id})${what && `: ${what}`}`);
}

/** What changed, as old and new values; the service's own time of change only if nothing else did. */
export function describeFields(fields: readonly ChangedField[]): string {
  return tellingOf(fields)
    .map(({ field, old, now }) => `${field} ${quoted(field, old)} -> ${quoted(field, now)}`)
    .join(', ');
}

/** Text in quotes, so that an empty one shows and the text null is not mistaken for nothing. */
function quoted(field: string, value: unknown): string {
  return shorten(isText(field, value) ? JSON.stringify(value) : plain(field, value));
}

/** The value as it is; in quotes only if it could be mistaken for nothing, or for the arrow between two values. */
export function bare(field: string, value: unknown): string {
  const text = plain(field, value);
  return isText(field, value) && /^$|^null$|^\s|\s$|→/.test(text) ? `"${text}"` : text;
}

function plain(field: string, value: unknown): string {
  return TYPES.get(field) === 'flag' && value !== null ? String(Boolean(value)) : String(value);
}

function isText(field: string, value: unknown): boolean {
  return typeof value === 'string' && TYPES.get(field) !== 'json';
}

const TYPES: ReadonlyMap<string, FieldType> = new Map(LEAGUE_MEMBERS.map(({ name, type }) => [name, type]));

function shorten(text: string): string {
  const characters = [...text];
  return characters.length > LONGEST_VALUE ? `${characters.slice(0, LONGEST_VALUE).join('')}…` : text;
}
