import stringWidth from 'string-width';
import { type Paint, type Tone, visible } from './style.ts';

/** What stands in a table, and what its colour says. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

/** How a table is shown at a terminal; elsewhere it is as wide as it has to be, and plain. */
export type TableOptions = {
  /** Characters in a line: the longest cells are cut until the lines fit. */
  readonly width?: number | undefined;
  readonly paint?: Paint;
  /** The column (from 0) that is cut before all others; otherwise it is the widest one. */
  readonly cutFirst?: number;
};

const GAP = '  ';
/** Cells are not cut below this; a terminal that is narrower still breaks the lines. */
const LEAST_WIDTH = 6;
/** What is left of a column that is cut first: the beginning of an id. */
const LEAST_FIRST = 9;

/** Lays rows out in columns under their names. Control characters are shown as what they are, not obeyed. */
export function formatTable(
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  { width = Number.POSITIVE_INFINITY, paint = (_, text) => text, cutFirst }: TableOptions = {},
): string {
  const heading: readonly Cell[] = columns.map((text) => ({ text, tone: 'faint' }));
  const lines = [heading, ...rows].map((row) => row.map((cell) => visible(textOf(cell))));
  const widths = narrow(narrowOne(widthsOf(lines), width, cutFirst), width);
  const layOut = (line: readonly string[], row: readonly Cell[]): string => {
    const cells = line.map((text, index) => paintCell(text, toneOf(row[index] ?? ''), widths[index] ?? 0, paint));
    return cells.join(GAP).trimEnd();
  };
  return lines.map((line, index) => layOut(line, index === 0 ? heading : (rows[index - 1] ?? []))).join('\n');
}

/** The text in its colour, cut or filled up to this width. */
export function paintCell(text: string, tone: Tone, width: number, paint: Paint): string {
  const shown = cut(text, width);
  return paint(tone, shown) + ' '.repeat(Math.max(0, width - stringWidth(shown)));
}

/** How many columns of a terminal the text takes. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** The text as far as it fits, with an ellipsis where it does not. */
export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of SEGMENTS.segment(text)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** Holds two words together where a text is wrapped. */
export const NO_BREAK = '\u00a0';

/** The text in lines of this width, broken at spaces; a word that is longer has a line of its own. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && stringWidth(last) + 1 + stringWidth(word) <= width) lines.push(`${lines.pop()} ${word}`);
    else lines.push(word);
  }
  return lines.map((line) => line.replaceAll(NO_BREAK, ' '));
}

/** The text in lines of this width that stand below each other, behind a lead before the first. */
export function hang(lead: string, text: string, width: number): readonly string[] {
  const indent = widthOf(lead);
  return wrap(text, width - indent).map((line, index) => (index === 0 ? lead : ' '.repeat(indent)) + line);
}

/** What a reader takes for one character may be several. */
const SEGMENTS = new Intl.Segmenter('en');

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

function toneOf(cell: Cell): Tone {
  return typeof cell === 'string' ? 'plain' : cell.tone;
}

function widthsOf(lines: readonly (readonly string[])[]): readonly number[] {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [index, cell] of line.entries()) widths[index] = Math.max(widths[index] ?? 0, stringWidth(cell));
  }
  return widths;
}

function narrowOne(widths: readonly number[], width: number, index: number | undefined): readonly number[] {
  const natural = widths[index ?? -1];
  if (index === undefined || natural === undefined) return widths;
  const excess = Math.max(0, sum(widths) - roomIn(widths, width));
  return widths.with(index, Math.max(Math.min(natural, LEAST_FIRST), natural - excess));
}

/** Without the gaps between the columns. */
function roomIn(widths: readonly number[], width: number): number {
  return width - GAP.length * (widths.length - 1);
}

/** The widest columns give way first, all to the same width. */
function narrow(widths: readonly number[], width: number): readonly number[] {
  const room = roomIn(widths, width);
  const narrowed = (most: number): readonly number[] => widths.map((natural) => Math.min(natural, most));
  let most = Math.max(...widths);
  while (most > LEAST_WIDTH && sum(narrowed(most)) > room) most -= 1;
  return narrowed(most);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
