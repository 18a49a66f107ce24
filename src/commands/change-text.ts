import type { JsonValue } from '../league/json.ts';
import { type ChangedField, formatBareValue } from '../store/change-words.ts';
import { escapeControls, type Terminal, type Tone } from '../terminal/style.ts';
import { formatCell, truncate, widthOf } from '../terminal/text.ts';

export type ChangeRow = {
  /** A line before it. */
  readonly heading?: string | undefined;
  /** Columns before the mark, such as the time. */
  readonly lead: readonly string[];
  readonly mark: { readonly text: string; readonly tone: Tone };
  readonly name: string;
  readonly fields: readonly ChangedField[];
};

const GAP = '  ';
const ARROW = ' → ';
const PLUS = ' + ';
const MIN_OLD = 6;
const INDENT = 6;
const MAX_NAME = 28;
const MIN_NAME = 16;
/** What both values have beside the name, which is shortened for that; if it would be too short, they go below it. */
const VALUES = 20;

type Widths = { readonly name: number; readonly field: number };

/** A line for each changed field, beside the name if there is room; rows with the same `least` widths are aligned. */
export function formatChanges(rows: readonly ChangeRow[], terminal: Terminal, least?: Widths): readonly string[] {
  const escaped = rows.map(escapeRow);
  const layout = { ...alignColumns(escaped, terminal.columns, least), ...terminal };
  return escaped.flatMap(({ heading, ...row }) => [
    ...(heading === undefined ? [] : [terminal.paint('faint', heading)]),
    ...formatRow(row, layout),
  ]);
}

type EscapedRow = ReturnType<typeof escapeRow>;

function escapeRow({ name, fields, ...row }: ChangeRow) {
  const escapedFields = fields.map(({ field, old, now }) => {
    const added = findAddition(old, now);
    return {
      field: escapeControls(field),
      old: escapeControls(formatBareValue(old)),
      now: escapeControls(added === undefined ? formatBareValue(now) : `"${added}"`),
      sign: added === undefined ? ARROW : PLUS,
    };
  });
  return { ...row, name: escapeControls(name), fields: escapedFields };
}

/** What was added to a text; undefined if it was changed otherwise. */
function findAddition(old: JsonValue, now: JsonValue): string | undefined {
  if (typeof old !== 'string' || typeof now !== 'string' || old === '' || !now.startsWith(old)) return undefined;
  return now.slice(old.length);
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
  if (row.fields.length === 0 || layout.isStacked) {
    const below = row.fields.map((field) => ' '.repeat(INDENT) + formatField(field, columns - INDENT, layout));
    return [head + formatCell(name, 'plain', columns - start, paint).trimEnd(), ...below];
  }
  const beside = start + layout.name + GAP.length;
  const [first = '', ...others] = row.fields.map((field) => formatField(field, columns - beside, layout));
  const named = head + formatCell(name, 'plain', layout.name, paint) + GAP + first;
  return [named, ...others.map((text) => ' '.repeat(beside) + text)];
}

function formatField({ field, old, now, sign }: EscapedRow['fields'][number], width: number, layout: Layout): string {
  const aligned = Math.max(layout.isStacked ? 0 : layout.field, widthOf(field));
  const room = width - aligned - GAP.length;
  // What was added is the news.
  const least = Math.max(MIN_OLD, room - widthOf(now) - PLUS.length);
  const [before, after] = fitPair(sign === PLUS ? truncate(old, least) : old, now, room);
  return `${formatCell(field, 'plain', aligned, layout.paint)}${GAP}${layout.paint('faint', before + sign)}${after}`;
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
