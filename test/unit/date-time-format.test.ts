import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DateTimeFormat } from '../../scripts/date-time-format.ts';

/** As node-cron asks for the parts of an instant, and for the offset of its zone. */
const PARTS = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  weekday: 'short',
  hour12: false,
} as const;
const OFFSETS = ['shortOffset', 'longOffset'] as const;

const valuesOf = (parts: readonly Intl.DateTimeFormatPart[]) =>
  Object.fromEntries(parts.map(({ type, value }) => [type, type === 'hour' ? Number(value) % 24 : value]));

const instants = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });

it.each(['UTC', '+00:00'])(
  'what stands for the formats in the bundle knows the parts of every instant in %s',
  (timeZone) => {
    const real = new Intl.DateTimeFormat('en-US', { ...PARTS, timeZone });
    const standIn = DateTimeFormat('en-US', { ...PARTS, timeZone });
    fc.assert(
      fc.property(instants, (instant) => {
        const { literal: _, ...expected } = valuesOf(real.formatToParts(instant));
        expect(valuesOf(standIn.formatToParts(instant))).toMatchObject(expected);
      }),
    );
  },
);

it.each(OFFSETS)('it names UTC as the real formats do by %s', (timeZoneName) => {
  const options = { timeZone: 'UTC', timeZoneName };
  const real = new Intl.DateTimeFormat('en', options).formatToParts(0).find(({ type }) => type === 'timeZoneName');
  expect(DateTimeFormat('en', options).formatToParts(0)).toContainEqual(real);
});

it('any other zone is the real one', () => {
  expect(DateTimeFormat('en', { timeZone: 'Europe/Berlin' }).resolvedOptions().timeZone).toBe('Europe/Berlin');
  expect(() => DateTimeFormat('en', { timeZone: 'Mars/Olympus' })).toThrow(RangeError);
});
