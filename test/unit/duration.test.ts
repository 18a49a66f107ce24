import { describe, expect, it } from 'vitest';
import {
  formatAge,
  formatCount,
  formatDuration,
  parseDuration,
  parseSize,
  writeDuration,
} from '../../src/time/duration.ts';

it.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1,000'],
  [1_234_567, '1,234,567'],
])('the count %i is written %s', (count, text) => {
  expect(formatCount(count)).toBe(text);
});

describe('a duration', () => {
  it.each([
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['90d', 7_776_000_000],
    ['0s', 0],
    ['1.5h', 5_400_000],
    [' 30s ', 30_000],
  ])('"%s" is read as %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    [''],
    ['30'],
    ['s'],
    ['-1s'],
    ['+1s'],
    ['1w'],
    ['1 h'],
    ['1h30m'],
    ['1e3s'],
    ['.5s'],
    ['5M'],
    ['Infinitys'],
  ])('"%s" is not guessed at', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it.each([
    [0, '0 ms'],
    [850, '850 ms'],
    [999.6, '1 s'],
    [4_000, '4 s'],
    [4_200, '4.2 s'],
    [-4_200, '-4.2 s'],
    [90_000, '90 s'],
    [119_600, '2 min'],
    [7_199_000, '2 h'],
    [720_000, '12 min'],
    [10_800_000, '3 h'],
    [432_000_000, '5 d'],
  ])('of %d ms is shown as "%s"', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('a size', () => {
  it.each([
    ['64MB', 64_000_000],
    ['512KB', 512_000],
    ['1GB', 1_000_000_000],
    ['1GiB', 2 ** 30],
    ['100B', 100],
    ['1.5 mb', 1_500_000],
  ])('"%s" is read as %d bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each([[''], ['64'], ['MB'], ['-1MB'], ['64M'], ['1TB'], ['64MBit']])('"%s" is not guessed at', (text) => {
    expect(parseSize(text)).toBeUndefined();
  });
});

it.each([
  [0, '0s'],
  [1, '1ms'],
  [1_500, '1500ms'],
  [1_000, '1s'],
  [90_000, '90s'],
  [420_000, '7m'],
  [86_400_000, '1d'],
])('a duration of %d ms is "%s" in a setting, and read back', (ms, text) => {
  expect(writeDuration(ms)).toBe(text);
  expect(parseDuration(text)).toBe(ms);
});

it.each([
  [0, 'just now'],
  [999, 'just now'],
  [-999, 'just now'],
  [1_999, '1 s ago'],
  [119_999, '119 s ago'],
  [120_000, '2 min ago'],
  [3 * 3_600_000, '3 h ago'],
  [-45 * 60_000, 'in 45 min'],
  [-5_500, 'in 5 s'],
])('an age of %d ms is written "%s"', (ms, text) => {
  expect(formatAge(ms)).toBe(text);
});
