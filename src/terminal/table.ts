import { escapeControls, PLAIN, type Terminal, type Tone } from './style.ts';
import { formatCell, widthOf, wrap } from './text.ts';

export type Cell = string | { readonly text: string; readonly tone: Tone };

const GAP = '  ';
/** No column shrinks below this width. If the lines still do not fit, the terminal wraps them. */
const MIN_WIDTH = 6;

/**
 * Aligns the cells of rows below the names of the columns, and escapes control characters. At a terminal, the widest
 * columns shrink until the lines fit. Cells that are then too wide are cut; those of the last column first fill up to
 * `lastLines` lines.
 */
export function formatTable(
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  { columns: width, paint }: Terminal = PLAIN,
  lastLines = 1,
): string {
  const heading = columns.map((text): Cell => ({ text, tone: 'faint' }));
  const lines = [heading, ...rows].map((row) => row.map(cellOf));
  const natural = columns.map((_, index) =>
    lines.reduce((most, line) => Math.max(most, widthOf(line[index]?.text ?? '')), 0),
  );
  const widths = shrinkColumns(natural, width - GAP.length * (columns.length - 1));
  const last = columns.length - 1;
  return lines
    .flatMap((line) => (lastLines > 1 ? wrapCell(line, last, widths[last] ?? 0, lastLines) : [line]))
    .map((line) => line.map(({ text, tone }, index) => formatCell(text, tone, widths[index] ?? 0, paint)).join(GAP))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Aligns texts beside their names, and wraps them, so that nothing is cut. Escapes control characters. */
export function formatRecord(
  rows: readonly (readonly [name: string, text: string, tone?: Tone | undefined])[],
  { columns, paint }: Terminal = PLAIN,
): string {
  const names = rows.map(([name]) => escapeControls(name));
  const width = Math.max(...names.map((name) => widthOf(name))) + GAP.length;
  const lines = rows.map(([, text, tone = 'plain'], index) => {
    const wrapped = wrap(escapeControls(text), columns - width).map((line) => paint(tone, line));
    return formatCell(names[index] ?? '', 'plain', width, paint) + wrapped.join(`\n${' '.repeat(width)}`);
  });
  return lines.map((line) => line.trimEnd()).join('\n');
}

type Line = readonly ReturnType<typeof cellOf>[];

/** The line as several lines, of which those after the first have only the rest of this cell. */
function wrapCell(line: Line, index: number, width: number, most: number): readonly Line[] {
  const texts = wrap(line[index]?.text ?? '', width);
  // The last line is cut with the others.
  const shown = [...texts.slice(0, most - 1), ...(texts.length < most ? [] : [texts.slice(most - 1).join(' ')])];
  return shown.map((text, row) =>
    line.map((cell, column) => ({ ...cell, text: column === index ? text : row === 0 ? cell.text : '' })),
  );
}

function cellOf(cell: Cell) {
  const { text, tone } = typeof cell === 'string' ? { text: cell, tone: 'plain' as const } : cell;
  return { text: escapeControls(text), tone };
}

/** If the lines are too wide, shrinks the widest columns, which all get the same width. */
function shrinkColumns(natural: readonly number[], room: number): readonly number[] {
  const shrunk = (most: number): readonly number[] => natural.map((width) => Math.min(width, most));
  let most = Math.max(...natural);
  while (most > MIN_WIDTH && shrunk(most).reduce((total, width) => total + width, 0) > room) most -= 1;
  return shrunk(most);
}
