import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Chart, drawChart } from '../../bench/support/chart.ts';
import { readPictures } from '../../bench/support/pictures.ts';

const pictures = readPictures();

const EXAMPLE: Chart = {
  title: 'Time',
  x: 'leagues',
  y: 'seconds',
  scale: 'logarithmic',
  lines: [
    {
      name: 'one',
      points: [
        [1, 40],
        [10, 60],
        [100, 90],
      ],
    },
    {
      name: 'another',
      points: [
        [1, 50],
        [10, 300],
      ],
    },
  ],
};

describe('the pictures of the bench', () => {
  it.each(pictures)('$file shows the recorded figures', ({ file, chart }) => {
    expect(readFileSync(`bench/${file}`, 'utf8')).toBe(drawChart(chart));
  });

  it('take their range from the figures', () => {
    const labels = [...drawChart(EXAMPLE).matchAll(/text-anchor="end">([\d,.]+)</g)].map(([, text]) => text);
    expect(labels).toEqual(['50', '100', '200']);
  });
});
