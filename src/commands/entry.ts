import { LEAGUE_MEMBERS } from '../league.ts';
import type { FieldType } from '../record.ts';
import type { FeedEntry } from '../store/feed.ts';
import { visible } from '../visible.ts';

const LONGEST_VALUE = 60;
/** Whatever else changes, this does too, and says nothing by itself. */
const NOISE = 'last_update_datetime';

/** A change of the feed as one line for people. */
export function describeEntry({ seq, at, league_id, kind, league_name, fields }: FeedEntry): string {
  const what = describeFields(fields);
  const line = `${String(seq).padStart(6)}  ${at}  ${kind.padEnd(8)}  ${league_name} (${league_id})${what && `: ${what}`}`;
  return visible(line);
}

/** What changed, as old and new values; the service's own time of change only where nothing else did. */
export function describeFields(fields: FeedEntry['fields']): string {
  const telling = fields.filter(({ field }) => field !== NOISE);
  return (telling.length === 0 ? fields : telling)
    .map(({ field, old, now }) => `${field} ${show(field, old)} -> ${show(field, now)}`)
    .join(', ');
}

/** Text in quotes, so that an empty one shows and the text null is not mistaken for nothing. */
function show(field: string, value: unknown): string {
  if (TYPES.get(field) === 'flag' && value !== null) return String(Boolean(value));
  const quoted = typeof value === 'string' && TYPES.get(field) !== 'json';
  return shorten(quoted ? JSON.stringify(value) : String(value));
}

const TYPES: ReadonlyMap<string, FieldType> = new Map(LEAGUE_MEMBERS.map(({ name, type }) => [name, type]));

function shorten(text: string): string {
  const characters = [...text];
  return characters.length > LONGEST_VALUE ? `${characters.slice(0, LONGEST_VALUE).join('')}…` : text;
}
