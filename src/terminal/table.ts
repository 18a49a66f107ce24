import { PLAIN, type Terminal, type Tone, visible } from './style.ts';
import { paintCell, widthOf } from './text.ts';

/** What stands in a table, and what its colour says. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

const GAP = '  ';
/** Cells are not cut below this; a terminal that is narrower still breaks the lines. */
const LEAST_WIDTH = 6;
/** What is left of a column that is cut first: the beginning of an id. */
const LEAST_FIRST = 9;

/**
 * Lays rows out in columns under their names. At a terminal the longest cells are cut until the lines fit, those of the
 * column `cutFirst` (from 0) before all others. Control characters are shown as what they are, not obeyed.
 */
export function formatTable(
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  { columns: width, paint }: Terminal = PLAIN,
  cutFirst?: number,
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

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

function toneOf(cell: Cell): Tone {
  return typeof cell === 'string' ? 'plain' : cell.tone;
}

function widthsOf(lines: readonly (readonly string[])[]): readonly number[] {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [index, cell] of line.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell));
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
