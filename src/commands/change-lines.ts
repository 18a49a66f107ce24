import { tellingOf } from '../store/queries/feed.ts';
import { type Paint, type Tone, visible } from '../terminal/style.ts';
import { paintCell, widthOf } from '../terminal/table.ts';
import { bare, type ChangedField } from './entry.ts';
import { ARROW, fitPair } from './value-pair.ts';

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

export type ChangeView = { readonly columns: number; readonly paint: Paint };

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
export function formatChanges(rows: readonly ChangeRow[], { columns, paint }: ChangeView): readonly string[] {
  const texts = rows.map(textsOf);
  const layout = layOut(texts, columns);
  return texts.flatMap((row) => linesOf(row, { ...layout, columns, paint }));
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

/** Widths of the columns. Where a terminal has no room for all of them, fields stand below the name. */
type Layout = {
  readonly lead: readonly number[];
  readonly mark: number;
  /** Where names begin. */
  readonly start: number;
  readonly name: number;
  /** At least: 0 where there is no room for aligning values. */
  readonly field: number;
  readonly isStacked: boolean;
};

function layOut(rows: readonly Texts[], columns: number): Layout {
  const fields = rows.flatMap((row) => row.fields);
  const [first] = rows;
  const lead = (first?.lead ?? []).map((_, index) => widest(rows.map((row) => row.lead[index] ?? '')));
  const mark = widest(rows.map((row) => row.mark.text));
  const start = lead.reduce((sum, width) => sum + width + GAP.length, mark + gapAfter(mark).length);
  const field = widest(fields.map((changed) => changed.field));
  const longest = Math.min(LONGEST_NAME, widest(rows.filter((row) => row.fields.length > 0).map((row) => row.name)));
  const values = widest(fields.map(({ old, now }) => old.slice(0, columns) + ARROW + now.slice(0, columns)));
  const room = columns - start - field - 2 * GAP.length;
  const name = Math.max(Math.min(LEAST_NAME, longest), Math.min(longest, room - Math.min(WANTED_VALUES, values)));
  const least = Math.min(LEAST_VALUES, values);
  const isStacked = room - name < least;
  const isAligned = !isStacked || columns - INDENT - field - GAP.length >= least;
  return { lead, mark, start, name, field: isAligned ? field : 0, isStacked };
}

/** A sign stands closer to its name than a word. */
function gapAfter(mark: number): string {
  return mark > 1 ? GAP : ' ';
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);
}

type Drawing = Layout & ChangeView;

function linesOf(row: Texts, drawing: Drawing): readonly string[] {
  const { columns, start, paint } = drawing;
  const lead = row.lead.map((text, index) => paintCell(text, 'plain', drawing.lead[index] ?? 0, paint) + GAP);
  const head = `${lead.join('')}${paintCell(row.mark.text, row.mark.tone, drawing.mark, paint)}${gapAfter(drawing.mark)}`;
  const id = row.id === undefined ? [] : [idLine(row.id, drawing)];
  if (row.fields.length === 0 || drawing.isStacked) {
    const indent = ' '.repeat(INDENT);
    const below = row.fields.map((field) => indent + fieldText(field, columns - INDENT, drawing));
    return [head + paintCell(row.name, 'plain', columns - start, paint).trimEnd(), ...id, ...below];
  }
  const beside = start + drawing.name + GAP.length;
  const [first = '', ...others] = row.fields.map((field) => fieldText(field, columns - beside, drawing));
  const name = paintCell(row.name, 'plain', drawing.name, paint);
  return [head + name + GAP + first, ...id, ...others.map((text) => ' '.repeat(beside) + text)];
}

/** Never cut, since it is there to be copied. */
function idLine(id: string, { columns, start, paint }: Drawing): string {
  return ' '.repeat(Math.max(0, Math.min(start, columns - widthOf(id)))) + paint('faint', id);
}

function fieldText(
  { field, old, now }: Texts['fields'][number],
  width: number,
  { field: least, paint }: Drawing,
): string {
  const aligned = Math.max(least, widthOf(field));
  const [before, after] = fitPair(old, now, width - aligned - GAP.length);
  return `${paintCell(field, 'plain', aligned, paint)}${GAP}${paint('faint', before + ARROW)}${after}`;
}
