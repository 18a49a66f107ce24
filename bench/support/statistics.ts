export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle] ?? Number.NaN;
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** The value below which this share of them lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}

/** Each value by the one at the same place: what is compared was measured in the same round. */
export function ratios(values: readonly number[], by: readonly number[]): readonly number[] {
  return values.map((value, index) => value / (by[index] ?? Number.NaN));
}

/** Three digits that count, and all before the point. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  const places = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toFixed(places);
}

/** The median, and behind it the least and the most. */
export function formatSpread(values: readonly number[]): string {
  const middle = formatNumber(median(values));
  if (values.length === 1) return middle;
  return `${middle} (${formatNumber(Math.min(...values))} to ${formatNumber(Math.max(...values))})`;
}
