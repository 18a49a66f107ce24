const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The form that HTTP tells senders to write, and the two old ones that it tells readers to take all the same. */
const FORMS: readonly RegExp[] = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
];
const HALF_A_CENTURY = 50;

/** Reads an HTTP date as ms since 1970; undefined for anything else. `now` tells the century of a year of two digits. */
export function parseHttpDate(text: string | undefined, now: number): number | undefined {
  for (const form of FORMS) {
    const { day = '', month = '', year = '', time = '' } = form.exec(text ?? '')?.groups ?? {};
    if (MONTHS.includes(month))
      return toInstant(
        `${fullYear(year, now)}-${twoDigits(MONTHS.indexOf(month) + 1)}-${twoDigits(Number(day))}T${time}Z`,
      );
  }
  return undefined;
}

/** A year that would be more than fifty years ahead is of the century before (RFC 9110, 5.6.7). */
function fullYear(year: string, now: number): string {
  if (year.length === 4) return year;
  const present = new Date(now).getUTCFullYear();
  const guess = Math.floor(present / 100) * 100 + Number(year);
  return String(guess > present + HALF_A_CENTURY ? guess - 100 : guess);
}

/** Undefined for a day that no month has. */
function toInstant(iso: string): number | undefined {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(iso.slice(0, -1)) ? undefined : ms;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
