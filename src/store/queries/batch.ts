export type BatchLimits = {
  readonly limit: number;
  /** The row that reaches this length is the last of its batch, so that a batch of huge rows stays small. */
  readonly maxChars?: number;
};

/** Takes rows up to a limit, but at least one if there is one. `more`: whether a row is left. */
export function takeBatch<Row>(
  found: Iterable<Row>,
  { limit, maxChars = Number.POSITIVE_INFINITY }: BatchLimits,
  lengthOf: (row: Row) => number,
): { readonly rows: readonly Row[]; readonly more: boolean } {
  const rows: Row[] = [];
  let chars = 0;
  for (const row of found) {
    if (rows.length >= limit || chars >= maxChars) return { rows, more: true };
    rows.push(row);
    chars += lengthOf(row);
  }
  return { rows, more: false };
}
