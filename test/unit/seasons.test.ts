import { expect, it } from 'vitest';
import { createSeasons } from '../../scripts/seasons.ts';

const [BEGIN, END] = [Date.parse('2025-11-25T12:00:00.000Z'), Date.parse('2026-11-24T15:00:00.000Z')];

it('the year of the pictures is the same whenever it is made', () => {
  const [one, other] = [createSeasons(BEGIN, END), createSeasons(BEGIN, END)];
  const atOnce = one(END);
  // Asked every six hours, as a worker asks more than once.
  for (let at = BEGIN; at < END; at += 21_600_000) other(at);
  expect(other(END)).toEqual(atOnce);
  expect(atOnce.version).toBeGreaterThan(500);
});
