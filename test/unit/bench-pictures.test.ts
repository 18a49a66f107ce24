import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Chart, drawChart } from '../../bench/support/chart.ts';
import { readPictures } from '../../bench/support/pictures.ts';

const pictures = readPictures();

type Point = readonly [number, number];

/** The lines of the picture, as points. */
function linesOf(svg: string): readonly (readonly Point[])[] {
  return [...svg.matchAll(/<polyline class="line[^"]*" points="([^"]+)"/g)].map(([, points = '']) =>
    points.split(' ').map((point) => point.split(',').map(Number) as unknown as Point),
  );
}

/** The names of the lines, with the middle of each. */
function namesOf(svg: string) {
  return [...svg.matchAll(/<text class="name[^"]*" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]+)</g)].map(
    ([, x, y, name = '']) => ({ name, x: Number(x), y: Number(y) - 5 }),
  );
}

/** Whether the line between two points passes through a name, which is 9 units wide for each of its letters. */
function passes([x0, y0]: Point, [x1, y1]: Point, { name, x, y }: ReturnType<typeof namesOf>[number]): boolean {
  return Array.from({ length: 1_000 }, (_, step) => step / 999).some(
    (share) => Math.abs(x0 + share * (x1 - x0) - x) < name.length * 4.5 && Math.abs(y0 + share * (y1 - y0) - y) < 9,
  );
}

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

  it.each(pictures)('no line of $file passes through a name', ({ chart }) => {
    const svg = drawChart(chart);
    const [lines, names] = [linesOf(svg), namesOf(svg)];
    expect(names.map(({ name }) => name)).toEqual(chart.lines.map(({ name }) => name));
    for (const name of names)
      for (const line of lines)
        for (const [index, point] of line.slice(1).entries())
          expect([name.name, passes(line[index] ?? point, point, name)]).toEqual([name.name, false]);
  });

  it.each(pictures)('$file has a ground, on which text in both schemes has its colour', ({ chart }) => {
    const svg = drawChart(chart);
    expect(svg).toContain('<rect class="ground" width="640" height="460" rx="8"/>');
    for (const variable of ['ground', 'text', 'muted', 'grid', 'a', 'b', 'c', 'd'])
      expect([variable, svg.split(`--${variable}: #`).length]).toEqual([variable, 3]);
  });

  it('take their range from the figures', () => {
    const labels = [...drawChart(EXAMPLE).matchAll(/text-anchor="end">([\d,.]+)</g)].map(([, text]) => text);
    expect(labels).toEqual(['50', '100', '200']);
  });
});
