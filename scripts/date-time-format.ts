// Replaces Intl.DateTimeFormat in the bundle. The first one that is made costs 8 MB, whatever its zone is; node-cron asks
// for the parts of instants in the zone of the schedule, and in UTC a Date knows them by itself.

const { DateTimeFormat: Localized } = Intl;
const UTC = new Set(['UTC', '+00:00']);
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

type Format = Pick<Intl.DateTimeFormat, 'formatToParts' | 'resolvedOptions'>;

/** What is asked of formats here, in English: their parts, and their zone. */
export function DateTimeFormat(locale: string, options: Intl.DateTimeFormatOptions): Format {
  const { timeZone = '', timeZoneName } = options;
  if (!UTC.has(timeZone)) return new Localized(locale, options);
  const offset = timeZoneName === 'longOffset' ? 'GMT+00:00' : 'GMT+0';
  return { formatToParts: (instant) => partsOf(new Date(instant ?? Date.now()), offset), resolvedOptions };
}

function partsOf(date: Date, offset: string): Intl.DateTimeFormatPart[] {
  const part = (type: Intl.DateTimeFormatPartTypes, value: number | string, digits = 2) => ({
    type,
    value: String(value).padStart(digits, '0'),
  });
  return [
    part('weekday', WEEKDAYS[date.getUTCDay()] ?? ''),
    part('month', date.getUTCMonth() + 1),
    part('day', date.getUTCDate()),
    part('year', date.getUTCFullYear(), 1),
    part('hour', date.getUTCHours()),
    part('minute', date.getUTCMinutes()),
    part('second', date.getUTCSeconds()),
    part('timeZoneName', offset),
  ];
}

function resolvedOptions(): Intl.ResolvedDateTimeFormatOptions {
  return { locale: 'en', calendar: 'gregory', numberingSystem: 'latn', timeZone: 'UTC' };
}
