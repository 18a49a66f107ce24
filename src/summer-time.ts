/** As many slots as asked for after the present moment, of the same expression in another zone; in ms. */
type SlotsIn = (zone: string, count: number) => readonly number[];

export type SlotFinderOptions = {
  readonly timezone: string;
  /** The field of hours of the expression. */
  readonly hours: string;
  readonly slotsIn: SlotsIn;
};

/** Longer than any change of summer time is, and shorter than the time between two. */
const CHANGE_MS = 3 * 3_600_000;

/** One a second, for the hour that comes twice. */
const MOST_SLOTS = 4_096;

/**
 * Finds the next slot where the zone's offset from UTC may change before it: `slot` is the next one that the zone's own
 * rules name. node-cron names none in the hour that is left out, and none for more than an hour where one comes twice,
 * so the expression is asked by each offset as well. In the hour that is left out slots come as if it were there; in one
 * that comes twice they come twice where the expression names every hour, and else the second time.
 */
export function createSlotFinder({
  timezone,
  hours,
  slotsIn,
}: SlotFinderOptions): (now: number, slot: number) => number {
  const offsetAt = createOffsets(timezone);
  const isHourly = namesEveryHour(hours);
  /** Whether the zone has a slot that is reckoned by this offset. */
  const isMeant = (slot: number, offset: string): boolean => {
    const its = offsetAt(slot);
    if (its === offset) {
      const later = offsetAt(slot + CHANGE_MS);
      const again = slot + (minutesOf(offset) - minutesOf(later)) * 60_000;
      return isHourly || again <= slot || offsetAt(again) !== later;
    }
    const sooner = slot - (minutesOf(its) - minutesOf(offset)) * 60_000;
    return sooner < slot && offsetAt(sooner) === offset && offsetAt(slot - CHANGE_MS) === offset;
  };
  /** The first slot by this offset that the zone has, unless there is none before `limit`. */
  const firstMeant = (offset: string, limit: number): number => {
    for (let count = 1; count <= MOST_SLOTS; count *= 8) {
      const found = slotsIn(offset, count).find((slot) => slot >= limit || isMeant(slot, offset));
      if (found !== undefined) return found;
    }
    return limit;
  };
  return (now, slot) => {
    const offsets = new Set([now, slot, now - CHANGE_MS, now + CHANGE_MS].map(offsetAt));
    const first = [...offsets].reduce(
      (limit, offset) => Math.min(limit, firstMeant(offset, limit)),
      Number.POSITIVE_INFINITY,
    );
    return first === Number.POSITIVE_INFINITY ? slot : first;
  };
}

/** How far a zone is from UTC at an instant (ms), as `+02:00`. */
function createOffsets(timezone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' });
  return (instant) => {
    const name = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    return /[+-]\d\d:\d\d/.exec(name)?.[0] ?? '+00:00';
  };
}

/** Whether the field of hours holds all of them. */
function namesEveryHour(field: string): boolean {
  const hours = field.split(',').flatMap((part) => {
    if (part === '*' || part === '*/1') return Array.from({ length: 24 }, (_, hour) => hour);
    const [from = Number.NaN, to = from] = part.split('-').map(Number);
    return Array.from({ length: Math.max(0, to - from + 1) || 0 }, (_, hour) => from + hour);
  });
  return new Set(hours).size === 24;
}

function minutesOf(offset: string): number {
  const [hours = 0, minutes = 0] = offset.split(':').map(Number);
  return hours * 60 + (offset.startsWith('-') ? -minutes : minutes);
}
