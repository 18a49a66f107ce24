export const [SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS] = [1_000, 60_000, 3_600_000, 86_400_000] as const;

const UNITS_MS = { ms: 1, s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const;
const UNITS_BYTES = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, KIB: 2 ** 10, MIB: 2 ** 20, GIB: 2 ** 30 } as const;

/** Reads a duration such as `250ms`, `30s`, `5m`, `1.5h` or `90d` as milliseconds; undefined for other text. */
export function parseDuration(text: string): number | undefined {
  return parseQuantity(text, /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)$/, UNITS_MS);
}

/** Writes a duration in the form of a setting, as a whole number of the largest possible unit: `250ms`, `90s`, `1d`. */
export function writeDuration(ms: number): string {
  const units = Object.entries(UNITS_MS).reverse();
  const [unit, size] = units.find(([, size]) => ms >= size && ms % size === 0) ?? ['s', UNITS_MS.s];
  return `${ms / size}${unit}`;
}

/** Reads a size such as `64MB`, `512 kb` or `1.5GiB` as bytes (MB: a million, MiB: 2^20); undefined for other text. */
export function parseSize(text: string): number | undefined {
  return parseQuantity(text.toUpperCase(), /^(\d{1,12}(?:\.\d{1,6})?)\s?(B|[KMG]I?B)$/, UNITS_BYTES);
}

function parseQuantity(text: string, form: RegExp, units: Readonly<Record<string, number>>): number | undefined {
  const [, count, unit = ''] = form.exec(text.trim()) ?? [];
  return count === undefined ? undefined : Math.round(Number(count) * (units[unit] ?? Number.NaN));
}

/** Writes how long something took or may take: `850 ms`, `4.2 s`, `4 s`, `12 min`, `3 h`, `5 d`. */
export function formatDuration(ms: number): string {
  const size = Math.round(Math.abs(ms));
  if (size < UNITS_MS.s) return `${Math.round(ms)} ms`;
  if (size < 10 * UNITS_MS.s) return `${Number((ms / UNITS_MS.s).toFixed(1))} s`;
  return formatCoarsely(ms, Math.round);
}

/** Writes an age (ms): `just now`, `5 s ago`, `12 min ago`. A negative age is a time in the future: `in 3 h`. */
export function formatAge(ms: number): string {
  const size = Math.abs(ms);
  if (size < UNITS_MS.s) return 'just now';
  // Rounded down, so that nothing looks older than it is.
  const text = formatCoarsely(size, Math.floor);
  return ms < 0 ? `in ${text}` : `${text} ago`;
}

/** Writes whole seconds below 2 minutes, whole minutes below 2 hours, whole hours below 2 days, or whole days. */
function formatCoarsely(ms: number, round: (value: number) => number): string {
  for (const [unit, name, most] of COARSE_UNITS) {
    const value = round(ms / unit);
    if (Math.abs(value) < most) return `${value} ${name}`;
  }
  return `${round(ms / UNITS_MS.d)} d`;
}

const COARSE_UNITS = [
  [UNITS_MS.s, 's', 120],
  [UNITS_MS.m, 'min', 120],
  [UNITS_MS.h, 'h', 48],
] as const;

/** Writes a count with separators: `12,000`. */
export function formatCount(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats a number of bytes for display: `512 B`, `4.1 KB`, `4 MB`, `73 MB`. */
export function formatSize(bytes: number): string {
  const unit = (['GB', 'MB', 'KB'] as const).find((name) => bytes >= UNITS_BYTES[name]);
  if (unit === undefined) return `${bytes} B`;
  const size = bytes / UNITS_BYTES[unit];
  return `${Number(size.toFixed(size < 10 ? 1 : 0))} ${unit}`;
}
