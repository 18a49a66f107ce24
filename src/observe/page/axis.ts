import { formatTimestamp } from '../../time/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, MONTHS, SECOND_MS } from './html.ts';

const TIME_STEPS_MS = [
  ...[1, 5, 10, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14].map((days) => days * DAY_MS),
];

/** The ticks of a time axis from `from` to `to` (ms): at round times (UTC), as many as fit, but not more than `most`. */
export function timeTicks(
  from: number,
  to: number,
  most: number,
): readonly { readonly at: number; readonly label: string }[] {
  const step = TIME_STEPS_MS.find((size) => (to - from) / size <= most) ?? 28 * DAY_MS;
  const ticks: { at: number; label: string }[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push({ at, label: labelOf(at, step) });
  return ticks;
}

function labelOf(at: number, step: number): string {
  const text = formatTimestamp(at);
  if (step >= DAY_MS) return `${Number(text.slice(8, 10))} ${MONTHS[Number(text.slice(5, 7)) - 1]}`;
  return text.slice(11, step < MINUTE_MS ? 19 : 16);
}

const MIN_TOP_MS = 10;

/** The top of a duration axis (ms): a round number of at least `ms`, whose half is round as well. */
export function roundUp(ms: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(MIN_TOP_MS, ms)));
  return size * ([1, 2, 4, 6, 10].find((factor) => factor * size >= ms) ?? 10);
}

/** The value that this share (0 to 1) of the values do not exceed; 0 if there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
