import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Picture } from '../part.ts';
import { drawChart } from './chart.ts';

const BENCH = join(import.meta.dirname, '..');
/** The figures of the pictures of the last full run. */
const RECORD = join(BENCH, 'pictures.json');

export function readPictures(): readonly Picture[] {
  return JSON.parse(readFileSync(RECORD, 'utf8')) as readonly Picture[];
}

/** Keeps the figures, so that the pictures can be drawn again, and draws the pictures. */
export function writePictures(pictures: readonly Picture[]): void {
  writeFileSync(RECORD, `${JSON.stringify(pictures, undefined, 2)}\n`);
  for (const { file, chart } of pictures) writeFileSync(join(BENCH, file), drawChart(chart));
}
