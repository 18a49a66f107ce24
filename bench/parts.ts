import type { Part } from './part.ts';
import { history } from './parts/history.ts';
import { life } from './parts/life.ts';
import { load } from './parts/load.ts';
import { loop } from './parts/loop.ts';
import { pages } from './parts/pages.ts';
import { start } from './parts/start.ts';
import { year } from './parts/year.ts';

/** All parts, in the order in which they are measured and told. */
export const PARTS: readonly Part[] = [load, life, start, loop, pages, history, year];
