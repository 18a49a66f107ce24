import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { drawChart } from '../../bench/support/chart.ts';
import { readPictures } from '../../bench/support/pictures.ts';

const pictures = readPictures();

it.each(pictures)('the picture $file of the bench shows the recorded figures', ({ file, chart }) => {
  expect(readFileSync(`bench/${file}`, 'utf8')).toBe(drawChart(chart));
});
