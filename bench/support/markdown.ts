import { wrap } from '../../src/terminal/table.ts';

const WIDTH = 120;

/** A paragraph, broken where the figures in it want it. */
export function paragraph(text: string): string {
  return wrap(text.replaceAll('\n', ' '), WIDTH).join('\n');
}

/** A table in Markdown; all columns but the first are figures. */
export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = columns.map((_, index) => (index === 0 ? '---' : '--:'));
  return [columns, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** 100,000 */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}
