import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parseTimestamp } from '../../src/time/clock.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');

describe('a timestamp', () => {
  it.each([
    ['2026-11-20t12:00:00z', NOON],
    ['2026-11-20T12:00:00', NOON],
    ['2026-11-20 12:00:00Z', NOON],
    ['2026-11-20T12:00', NOON],
    ['  2026-11-20T12:00:00Z\n', NOON],
    ['2026-11-20T14:00:00+0200', NOON],
    ['2026-11-20T14:00:00+02', NOON],
    ['2026-11-20 14:00:00 +02:00', NOON],
    ['2026-11-20T06:30:00-05:30', NOON],
    ['2026-11-20T12:00:00.5', NOON + 500],
    ['2026-11-20T12:00:00,757Z', NOON + 757],
    ['2026-11-20T12:00:00.999999999999+00:00', NOON + 999],
    ['0001-01-01T00:00:00Z', Date.parse('0001-01-01T00:00:00Z')],
    ['9999-12-31T23:59:59.999Z', Date.parse('9999-12-31T23:59:59.999Z')],
  ])('is read from "%s"', (text, expected) => {
    expect(parseTimestamp(text)).toBe(expected);
  });

  it.each([
    [''],
    ['1795176000'],
    ['2026-11-20'],
    ['2026-11-20T24:00:00Z'],
    ['2026-11-20T12:60:00Z'],
    ['2026-00-10T00:00:00Z'],
    ['2027-02-29T00:00:00Z'],
    ['2026-11-20T12:00:00+25:00'],
    ['2026-11-20T12:00:00+02:60'],
    ['2026-11-20T12:00:00Z and more'],
  ])('is not guessed from "%s"', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  it('keeps every millisecond', () => {
    const misread = Array.from({ length: 1_000 }, (_, ms) => ms).filter(
      (ms) => parseTimestamp(`2026-11-20T12:00:00.${String(ms).padStart(3, '0')}Z`) !== NOON + ms,
    );
    expect(misread).toEqual([]);
  });

  it('without an offset means UTC in any time zone of the machine', () => {
    const script = `
      import { parseTimestamp } from ${JSON.stringify(import.meta.resolve('../../src/time/clock.ts'))};
      console.log(parseTimestamp('2026-11-20 12:00:00.5'), new Date(2026, 0, 1).getTimezoneOffset());`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, TZ: 'Asia/Tokyo' },
      encoding: 'utf8',
    });
    expect(printed.trim()).toBe(`${NOON + 500} -540`);
  });
});
