const FORM =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(?:([Zz])|([+-])(\d\d)(?::?(\d\d))?)?$/;

/**
 * Reads an ISO 8601 instant as ms since 1970: with `Z`, an offset or neither (then UTC: the machine's time zone never
 * matters), with or without seconds and fractions, `T` or a space. Undefined for anything else, days that no month has
 * included.
 */
export function parseInstant(text: string): number | undefined {
  const match = FORM.exec(text.trim());
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  if (hour > 23 || minute > 59 || second > 59 || part(10) > 23 || part(11) > 59) return undefined;
  const fraction = Math.floor(Number(`0.${match[7] ?? '0'}`) * 1_000);
  const date = new Date(Date.UTC(2000, month - 1, 1, hour, minute, second, fraction));
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const offsetMs = (part(10) * 60 + part(11)) * 60_000 * (match[9] === '-' ? -1 : 1);
  return date.getTime() - offsetMs;
}
