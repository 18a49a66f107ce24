import { DAY_MS } from './duration.ts';

/** Less than the time between any two changes of a zone: Morocco changes its offset twice within five weeks. */
const STRIDE_MS = 7 * DAY_MS;

/** From `at` on (ms), the offset from UTC is `to`; before it was `from`. */
export type OffsetChange = { readonly at: number; readonly from: number; readonly to: number };

/** Tells the offsets of an IANA time zone from UTC, in ms, positive to the east. Timestamps are in ms since 1970. */
export function createZone(timezone: string) {
  const format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' });
  const offsetAt = (timestamp: number): number => {
    const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(format.format(timestamp)) ?? [];
    return (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === '-' ? -60_000 : 60_000);
  };
  let last: OffsetChange | undefined;
  /** The first change of the offset after `begin` and not after `end`, if there is one. */
  const findChange = (begin: number, end: number): OffsetChange | undefined => {
    if (last !== undefined && begin < last.at && last.at <= Math.min(end, begin + STRIDE_MS)) return last;
    const from = offsetAt(begin);
    for (let low = begin; low < end; low += STRIDE_MS) {
      const high = Math.min(low + STRIDE_MS, end);
      if (offsetAt(high) === from) continue;
      last = narrow(low, high, from);
      return last;
    }
    return undefined;
  };
  const narrow = (low: number, high: number, from: number): OffsetChange => {
    if (high - low <= 1) return { at: high, from, to: offsetAt(high) };
    const middle = Math.floor((low + high) / 2);
    return offsetAt(middle) === from ? narrow(middle, high, from) : narrow(low, middle, from);
  };
  return { offsetAt, findChange };
}
