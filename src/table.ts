import stringWidth from 'string-width';
import { visible } from './visible.ts';

const GAP = '  ';

/** Lays rows out in columns under their names. Control characters are shown as what they are, not obeyed. */
export function formatTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [columns, ...rows].map((row) => row.map(visible));
  const widths = columns.map(() => 0);
  for (const line of lines) {
    for (const [index, cell] of line.entries()) widths[index] = Math.max(widths[index] ?? 0, stringWidth(cell));
  }
  const layOut = (line: readonly string[]): string =>
    line
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - stringWidth(cell)))
      .join(GAP)
      .trimEnd();
  return lines.map(layOut).join('\n');
}
