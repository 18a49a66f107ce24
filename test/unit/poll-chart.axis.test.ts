import { describe, expect, it } from 'vitest';
import { percentile, roundUp, timeTicks } from '../../src/observe/page/poll-chart.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const HOUR = 3_600_000;

describe('the ticks of a time axis', () => {
  it.each([
    [
      90_000,
      [
        '11:58:30',
        '11:58:40',
        '11:58:50',
        '11:59:00',
        '11:59:10',
        '11:59:20',
        '11:59:30',
        '11:59:40',
        '11:59:50',
        '12:00:00',
      ],
    ],
    [7.5 * HOUR, ['05:00', '06:00', '07:00', '08:00', '09:00', '10:00', '11:00', '12:00']],
    [90 * 24 * HOUR, ['27 Aug', '10 Sep', '24 Sep', '8 Oct', '22 Oct', '5 Nov', '19 Nov']],
  ])('are at round times of the last %i ms', (span, labels) => {
    expect(timeTicks(NOW - span, NOW, 9).map(({ label }) => label)).toEqual(labels);
  });
});

it.each([
  [0, 10],
  [273, 400],
  [400, 400],
  [401, 600],
  [999, 1_000],
  [4_200, 6_000],
])('the top of an axis for %i ms is %i ms', (ms, top) => {
  expect(roundUp(ms)).toBe(top);
});

it('a percentile is one of the values', () => {
  expect(percentile([], 0.5)).toBe(0);
  expect(percentile([3], 0.95)).toBe(3);
  expect(percentile([1, 2, 3, 4], 0.5)).toBe(3);
});
