import { wrap } from '../../src/terminal/text.ts';

const WIDTH = 120;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle] ?? Number.NaN;
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** The quantile: the value below which this share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}

/** Element-wise ratios: the values of one index were measured in the same round. */
export function ratios(values: readonly number[], by: readonly number[]): readonly number[] {
  return values.map((value, index) => value / (by[index] ?? Number.NaN));
}

/** Placeholder for a figure that cannot be computed. */
export const NO_FIGURE = '–';

/** Three significant digits, and all digits before the point. A negative figure was lost in noise. */
export function formatNumber(value: number): string {
  if (!(Number.isFinite(value) && value >= 0)) return NO_FIGURE;
  const places = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  return value.toFixed(places);
}

/** The same three digits, as a number. */
export function roundFigure(value: number): number {
  return Number(value.toPrecision(3));
}

/** The median, with minimum and maximum. */
export function formatSpread(values: readonly number[]): string {
  const middle = formatNumber(median(values));
  if (values.length === 1 || middle === NO_FIGURE) return middle;
  return `${middle} (${formatNumber(Math.min(...values))} to ${formatNumber(Math.max(...values))})`;
}

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
