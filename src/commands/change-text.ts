import { LEAGUE_MEMBERS } from '../league/schemas.ts';
import { type FeedEntry, significantFields } from '../store/queries/feed.ts';
import { escapeControls, type Terminal, type Tone } from '../terminal/style.ts';
import { formatCell, truncate, widthOf } from '../terminal/text.ts';

type ChangedField = FeedEntry['fields'][number];

const MAX_VALUE_LENGTH = 60;

export function describeEntry({ seq, at, kind, ...league }: FeedEntry): string {
  return `${String(seq).padStart(6)}  ${at}  ${kind.padEnd(8)}  ${describeLeague({ ...league, league_name: nameBefore(league) })}`;
}

export function describeLeague(league: Pick<FeedEntry, 'league_name' | 'league_id' | 'fields'>): string {
  const what = describeFields(league.fields);
  return escapeControls(`${league.league_name} (${league.league_id})${what && `: ${what}`}`);
}

/** The name under which a reader knows the league: its old name if the change renamed it. */
export function nameBefore({ league_name, fields }: Pick<FeedEntry, 'league_name' | 'fields'>): string | null {
  const renamed = fields.find(({ field }) => field === 'league_name');
  return renamed === undefined ? league_name : String(renamed.old);
}

/** Such as `status "active" -> "inactive", priority 1 -> 2`. */
export function describeFields(fields: readonly ChangedField[]): string {
  return significantFields(fields)
    .map(({ field, old, now }) => `${field} ${formatQuotedValue(field, old)} -> ${formatQuotedValue(field, now)}`)
    .join(', ');
}

function formatQuotedValue(field: string, value: unknown): string {
  const characters = [...(isTextValue(field, value) ? JSON.stringify(value) : formatValue(field, value))];
  const rest = characters.length > MAX_VALUE_LENGTH ? '…' : '';
  return characters.slice(0, MAX_VALUE_LENGTH).join('') + rest;
}

function formatValue(field: string, value: unknown): string {
  return typeOf(field) === 'flag' && value !== null ? String(Boolean(value)) : String(value);
}

function isTextValue(field: string, value: unknown): boolean {
  return typeof value === 'string' && typeOf(field) !== 'json';
}

function typeOf(field: string) {
  return LEAGUE_MEMBERS.find(({ name }) => name === field)?.type;
}

export type ChangeRow = {
  /** Columns before the mark, such as the age. */
  readonly lead: readonly string[];
  readonly mark: { readonly text: string; readonly tone: Tone };
  readonly name: string;
  readonly id?: string | undefined;
  readonly fields: readonly ChangedField[];
};

const GAP = '  ';
const ARROW = ' → ';
const INDENT = 6;
const MAX_NAME = 28;
const MIN_NAME = 16;
/** What both values have beside the name, which is shortened for that; if it would be too short, they go below it. */
const VALUES = 20;

type Widths = { readonly name: number; readonly field: number };

/**
 * Each changed field has its own line, with its old and its new value, aligned beside the name if there is room. Rows
 * that are formatted apart, with the same `least` widths, are aligned with each other.
 */
export function formatChanges(rows: readonly ChangeRow[], terminal: Terminal, least?: Widths): readonly string[] {
  const escaped = rows.map(escapeRow);
  const layout = { ...alignColumns(escaped, terminal.columns, least), ...terminal };
  return escaped.flatMap((row) => formatRow(row, layout));
}

type EscapedRow = ReturnType<typeof escapeRow>;

function escapeRow({ name, id, fields, ...row }: ChangeRow) {
  const escapedFields = significantFields(fields).map(({ field, old, now }) => ({
    field: escapeControls(field),
    old: escapeControls(formatBareValue(field, old)),
    now: escapeControls(formatBareValue(field, now)),
  }));
  return { ...row, name: escapeControls(name), id: id && escapeControls(id), fields: escapedFields };
}

function alignColumns(rows: readonly EscapedRow[], columns: number, least?: Widths) {
  const lead = (rows[0]?.lead ?? []).map((_, index) => widest(rows.map((row) => row.lead[index] ?? '')));
  const mark = widest(rows.map((row) => row.mark.text));
  const afterMark = mark > 1 ? GAP : ' ';
  const start = lead.reduce((sum, width) => sum + width + GAP.length, mark + afterMark.length);
  const field = least?.field ?? widest(rows.flatMap((row) => row.fields.map((changed) => changed.field)));
  const named = rows.filter((row) => row.fields.length > 0);
  const longest = least?.name ?? Math.min(MAX_NAME, widest(named.map((row) => row.name)));
  const room = columns - start - field - 2 * GAP.length - VALUES;
  const isStacked = room < Math.min(MIN_NAME, longest);
  return { lead, mark, afterMark, start, name: Math.min(longest, room), field, isStacked };
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);
}

type Layout = ReturnType<typeof alignColumns> & Terminal;

function formatRow({ mark, name, ...row }: EscapedRow, layout: Layout): readonly string[] {
  const { columns, start, paint } = layout;
  const lead = row.lead.map((text, index) => formatCell(text, 'plain', layout.lead[index] ?? 0, paint) + GAP);
  const head = lead.join('') + formatCell(mark.text, mark.tone, layout.mark, paint) + layout.afterMark;
  const id = row.id === undefined ? [] : [formatId(row.id, layout)];
  if (row.fields.length === 0 || layout.isStacked) {
    const below = row.fields.map((field) => ' '.repeat(INDENT) + formatField(field, columns - INDENT, layout));
    return [head + formatCell(name, 'plain', columns - start, paint).trimEnd(), ...id, ...below];
  }
  const beside = start + layout.name + GAP.length;
  const [first = '', ...others] = row.fields.map((field) => formatField(field, columns - beside, layout));
  const named = head + formatCell(name, 'plain', layout.name, paint) + GAP + first;
  return [named, ...id, ...others.map((text) => ' '.repeat(beside) + text)];
}

/** The id is never truncated, so that it can be copied. */
function formatId(id: string, { columns, start, paint }: Layout): string {
  return ' '.repeat(Math.max(0, Math.min(start, columns - widthOf(id)))) + paint('faint', id);
}

function formatField({ field, old, now }: EscapedRow['fields'][number], width: number, layout: Layout): string {
  const aligned = Math.max(layout.isStacked ? 0 : layout.field, widthOf(field));
  const [before, after] = fitPair(old, now, width - aligned - GAP.length);
  return `${formatCell(field, 'plain', aligned, layout.paint)}${GAP}${layout.paint('faint', before + ARROW)}${after}`;
}

/** Quotes a text only if it is ambiguous: empty, `null`, with a space at either end, or with an arrow in it. */
function formatBareValue(field: string, value: unknown): string {
  const text = formatValue(field, value);
  return isTextValue(field, value) && /^$|^null$|^\s|\s$|\u2192/.test(text) ? `"${text}"` : text;
}

/** Longer values are cut before they are measured: some have megabytes, and no terminal is this wide. */
const MAX_MEASURED = 1_000;
/** Characters shown before the first difference. */
const CONTEXT = 3;

/** Truncates the values to fit the width, the longer one first. If both need that, omits their common start. */
export function fitPair(old: string, now: string, width: number): readonly [string, string] {
  const pair = truncatePair(old, now, width);
  const from = pair.every((text) => text.endsWith('…')) ? firstDifference(old, now) : 0;
  return from > 1 ? truncatePair(`…${old.slice(from)}`, `…${now.slice(from)}`, width) : pair;
}

function truncatePair(old: string, now: string, width: number): readonly [string, string] {
  const [before, after] = [old.slice(0, MAX_MEASURED), now.slice(0, MAX_MEASURED)];
  const [oldWidth, nowWidth] = [widthOf(before), widthOf(after)];
  const room = Math.max(2, width - ARROW.length);
  if (oldWidth + nowWidth <= room) return [before, after];
  const forOld = Math.min(oldWidth, Math.max(Math.floor(room / 2), room - nowWidth));
  return [truncate(before, forOld), truncate(after, room - forOld)];
}

/** The index from which both values are shown: a few characters before their first difference. */
function firstDifference(old: string, now: string): number {
  let index = 0;
  while (index < old.length && old[index] === now[index]) index += 1;
  const from = Math.max(0, index - CONTEXT);
  // Do not split a surrogate pair.
  return /[\uDC00-\uDFFF]/.test(old.charAt(from)) ? from + 1 : from;
}
