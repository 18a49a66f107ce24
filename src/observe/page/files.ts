import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

/** What browsers load as it is. scripts/build.ts puts the texts into the bundle. */
export const STYLE = read('page.css');
export const SCRIPT = read('page.js');
