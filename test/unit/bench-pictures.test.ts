import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { drawChart } from '../../bench/support/chart.ts';
import { readPictures } from '../../bench/support/pictures.ts';

const pictures = readPictures();

describe('the pictures of the bench', () => {
  it.each(pictures)('$file shows the recorded figures', ({ file, chart }) => {
    expect(readFileSync(`bench/${file}`, 'utf8')).toBe(drawChart(chart));
  });
});
