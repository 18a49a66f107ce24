import { formatAge } from '../duration.ts';
import { LEAGUE_MEMBERS } from '../league.ts';
import { createPaint, type Tone } from '../paint.ts';
import type { FieldType } from '../record.ts';
import { type FeedEntry, tellingOf } from '../store/feed.ts';
import { cut } from '../table.ts';
import { visible } from '../visible.ts';
import type { Terminal } from './host.ts';
import { WIDE_COLUMNS } from './run-table.ts';

const LONGEST_VALUE = 60;

export type EntryOptions = { readonly now: number; readonly terminal: Terminal | undefined };

/** A change of the feed as one line for people: cut at a terminal, whole in a pipe. */
export function describeEntry(entry: FeedEntry, { now, terminal }: EntryOptions): string {
  const { seq, at, league_id, kind, league_name, fields } = entry;
  const what = describeFields(fields);
  const number = String(seq).padStart(6);
  const text = visible(`${league_name} (${league_id})${what && `: ${what}`}`);
  if (terminal === undefined) return `${number}  ${at}  ${kind.padEnd(8)}  ${text}`;
  const age = formatAge(now - Date.parse(at)).padEnd(AGE_WIDTH);
  const when = terminal.columns < WIDE_COLUMNS ? age : `${at}  ${age}`;
  const start = `${number}  ${when}  `;
  const room = terminal.columns - start.length - KIND_WIDTH - 2;
  return `${start}${createPaint(terminal.color)(TONES[kind], kind.padEnd(KIND_WIDTH))}  ${cut(text, room)}`;
}

const AGE_WIDTH = 10;
const KIND_WIDTH = 8;
const TONES: Readonly<Record<FeedEntry['kind'], Tone>> = {
  added: 'good',
  changed: 'plain',
  removed: 'bad',
  restored: 'good',
};

/** What changed, as old and new values; the service's own time of change only where nothing else did. */
export function describeFields(fields: FeedEntry['fields']): string {
  return tellingOf(fields)
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
