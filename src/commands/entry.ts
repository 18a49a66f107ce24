import type { FeedEntry } from '../store/feed.ts';
import { visible } from '../table.ts';

const LONGEST_VALUE = 60;

/** A change of the feed as one line for people. */
export function describeEntry({ seq, at, league_id, kind, league_name, fields }: FeedEntry): string {
  const what = describeFields(fields);
  const line = `${String(seq).padStart(6)}  ${at}  ${kind.padEnd(8)}  ${league_name} (${league_id})${what && `: ${what}`}`;
  return visible(line);
}

/** What changed, as old and new values. */
export function describeFields(fields: FeedEntry['fields']): string {
  return fields.map(({ field, old, now }) => `${field} ${shorten(old)} -> ${shorten(now)}`).join(', ');
}

function shorten(value: unknown): string {
  const text = String(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}
