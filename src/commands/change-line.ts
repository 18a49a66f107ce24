import { LEAGUE_MEMBERS } from '../interface.ts';
import { type FeedEntry, tellingOf } from '../store/queries/feed.ts';
import { type Terminal, type Tone, visible } from '../terminal/style.ts';
import { paintCell, widthOf } from '../terminal/text.ts';
import { ARROW, fitPair } from './value-pair.ts';

/** One field of a league that changed: its values as the columns hold them. */
export type ChangedField = FeedEntry['fields'][number];

type Named = Pick<FeedEntry, 'league_name' | 'league_id' | 'fields'>;

/** Of a value in a pipe. */
const LONGEST_VALUE = 60;

/** A change of the feed as one line of a pipe. */
export function describeEntry({ seq, at, kind, ...league }: FeedEntry): string {
  return `${String(seq).padStart(6)}  ${at}  ${kind.padEnd(8)}  ${describeLeague(league)}`;
}

/** A league, and what changed of it, in one line. */
export function describeLeague({ league_name, league_id, fields }: Named): string {
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
  const characters = [...(isText(field, value) ? JSON.stringify(value) : plain(field, value))];
  const rest = characters.length > LONGEST_VALUE ? '…' : '';
  return characters.slice(0, LONGEST_VALUE).join('') + rest;
}

/** The value as it is; in quotes only if it could be mistaken for nothing, or for the arrow between two values. */
function bare(field: string, value: unknown): string {
  const text = plain(field, value);
  return isText(field, value) && /^$|^null$|^\s|\s$|→/.test(text) ? `"${text}"` : text;
}

function plain(field: string, value: unknown): string {
  return typeOf(field) === 'flag' && value !== null ? String(Boolean(value)) : String(value);
}

function isText(field: string, value: unknown): boolean {
  return typeof value === 'string' && typeOf(field) !== 'json';
}

function typeOf(field: string) {
  return LEAGUE_MEMBERS.find(({ name }) => name === field)?.type;
}

/** A change, as a terminal shows it. */
export type ChangeRow = {
  /** What comes before the mark, such as when it was. */
  readonly lead: readonly string[];
  /** What kind of change it is, in a sign or a word. */
  readonly mark: { readonly text: string; readonly tone: Tone };
  readonly name: string;
  /** Shown on a line of its own. */
  readonly id?: string | undefined;
  readonly fields: readonly ChangedField[];
};

const GAP = '  ';
const LONGEST_NAME = 28;
/** No name is cut below this. */
const LEAST_NAME = 16;
/** What both values together get before a name gets more than that, and with less than what fields stand below it. */
const WANTED_VALUES = 24;
const LEAST_VALUES = 20;
/** How far fields are moved in that have a line of their own. */
const INDENT = 6;

/** The lines of changes, aligned: every field that changed is there, with its old and its new value. */
export function formatChanges(rows: readonly ChangeRow[], terminal: Terminal): readonly string[] {
  const texts = rows.map(textsOf);
  const drawing = { ...layOut(texts, terminal.columns), ...terminal };
  return texts.flatMap((row) => linesOf(row, drawing));
}

type Texts = ReturnType<typeof textsOf>;

/** Control characters are shown as what they are. */
function textsOf({ lead, mark, name, id, fields }: ChangeRow) {
  const shown = tellingOf(fields).map(({ field, old, now }) => ({
    field: visible(field),
    old: visible(bare(field, old)),
    now: visible(bare(field, now)),
  }));
  return { lead, mark, name: visible(name), id: id === undefined ? undefined : visible(id), fields: shown };
}

/** Widths of the columns. If a terminal has no room for all of them, fields stand below the name. */
function layOut(rows: readonly Texts[], columns: number) {
  const fields = rows.flatMap((row) => row.fields);
  const lead = (rows[0]?.lead ?? []).map((_, index) => widest(rows.map((row) => row.lead[index] ?? '')));
  const mark = widest(rows.map((row) => row.mark.text));
  // A sign stands closer to its name than a word.
  const afterMark = mark > 1 ? GAP : ' ';
  const start = lead.reduce((sum, width) => sum + width + GAP.length, mark + afterMark.length);
  const field = widest(fields.map((changed) => changed.field));
  const longest = Math.min(LONGEST_NAME, widest(rows.filter((row) => row.fields.length > 0).map((row) => row.name)));
  const values = widest(fields.map(({ old, now }) => old.slice(0, columns) + ARROW + now.slice(0, columns)));
  const room = columns - start - field - 2 * GAP.length;
  const name = Math.max(Math.min(LEAST_NAME, longest), Math.min(longest, room - Math.min(WANTED_VALUES, values)));
  const least = Math.min(LEAST_VALUES, values);
  const isStacked = room - name < least;
  const isAligned = !isStacked || columns - INDENT - field - GAP.length >= least;
  return { lead, mark, afterMark, start, name, field: isAligned ? field : 0, isStacked };
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);
}

type Drawing = ReturnType<typeof layOut> & Terminal;

function linesOf({ mark, name, ...row }: Texts, drawing: Drawing): readonly string[] {
  const { columns, start, paint } = drawing;
  const lead = row.lead.map((text, index) => paintCell(text, 'plain', drawing.lead[index] ?? 0, paint) + GAP);
  const head = lead.join('') + paintCell(mark.text, mark.tone, drawing.mark, paint) + drawing.afterMark;
  const id = row.id === undefined ? [] : [idLine(row.id, drawing)];
  if (row.fields.length === 0 || drawing.isStacked) {
    const below = row.fields.map((field) => ' '.repeat(INDENT) + fieldText(field, columns - INDENT, drawing));
    return [head + paintCell(name, 'plain', columns - start, paint).trimEnd(), ...id, ...below];
  }
  const beside = start + drawing.name + GAP.length;
  const [first = '', ...others] = row.fields.map((field) => fieldText(field, columns - beside, drawing));
  const named = head + paintCell(name, 'plain', drawing.name, paint) + GAP + first;
  return [named, ...id, ...others.map((text) => ' '.repeat(beside) + text)];
}

/** Never cut, since it is there to be copied. */
function idLine(id: string, { columns, start, paint }: Drawing): string {
  return ' '.repeat(Math.max(0, Math.min(start, columns - widthOf(id)))) + paint('faint', id);
}

function fieldText({ field, old, now }: Texts['fields'][number], width: number, drawing: Drawing): string {
  const aligned = Math.max(drawing.field, widthOf(field));
  const [before, after] = fitPair(old, now, width - aligned - GAP.length);
  return `${paintCell(field, 'plain', aligned, drawing.paint)}${GAP}${drawing.paint('faint', before + ARROW)}${after}`;
}
