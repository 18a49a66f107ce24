import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { createReader } from '../../src/observe/page/home.ts';
import { createApp } from '../../src/observe/routes.ts';
import { withOwnSnapshot } from '../../src/store/connection.ts';
import { createDayCounter } from '../../src/store/queries/changed-polls.ts';
import { createFacetCounter } from '../../src/store/queries/leagues.ts';
import type { Store } from '../../src/store/store.ts';
import { createTestMonitor, makeMonitorSources } from '../../test/support/monitor-sources.ts';
import { makeRequest } from '../../test/support/request.ts';
import { median } from '../support/statistics.ts';
import type { HandClock } from './clock.ts';

/** The median of this many requests, after an uncounted one. */
const REPEATS = 20;
const COOKBOOK = join(import.meta.dirname, '../../docs/cookbook.md');
const RECIPE = /^### (?<question>.+)\n(?:(?!#|```).*\n)*```sql\n(?<sql>[^`]+)```$/gm;

/** Milliseconds, by request. */
export type Times = Readonly<Record<string, number>>;

/** The pages whose processor time is measured, too. */
const COSTED = ['/', '/changes'];

/**
 * How long the status page, `/status.json` and the metrics take to answer, in this process and without a network, and
 * how much processor time the pages take that people open most.
 */
export async function timePages(store: Store, clock: HandClock): Promise<Record<'pagesMs' | 'processorMs', Times>> {
  const monitor = createTestMonitor(clock);
  monitor.open({ ...makeMonitorSources(), store });
  const { handle } = createApp(monitor, pino({ level: 'silent' }), new AbortController().signal);
  const ask = async (path: string): Promise<void> => {
    const { status } = await handle(makeRequest(path));
    if (status !== 200) throw new Error(`${path} was answered with ${status}`);
  };
  const readStored = createReader((read) => withOwnSnapshot(store.path, read), {
    countFacets: createFacetCounter(),
    countDays: createDayCounter(),
  });
  const state = monitor.state();
  const times: Record<string, number> = {
    'queries of /': await timeOf(async () => void readStored(state)),
  };
  for (const [name, path] of Object.entries(pathsIn(store.path))) times[name] = await timeOf(() => ask(path));
  const processorMs: Record<string, number> = {};
  for (const path of COSTED) processorMs[path] = await costOf(() => ask(path));
  return { pagesMs: times, processorMs };
}

/** The pages that people open, of the league and of the day with the most changes too. */
function pathsIn(path: string): Readonly<Record<string, string>> {
  const [league] = ask(path, 'SELECT league_id FROM league_changes GROUP BY league_id ORDER BY count(*) DESC LIMIT 1');
  const [day] = ask(path, 'SELECT substr(at, 1, 10) FROM league_changes GROUP BY 1 ORDER BY count(*) DESC LIMIT 1');
  return {
    '/': '/',
    '/leagues': '/leagues',
    '/leagues with a search': '/leagues?q=united',
    '/changes': '/changes',
    '/changes of the busiest day': `/changes?day=${day}`,
    '/league of the most changes': `/league?id=${league}`,
    '/status.json': '/status.json',
    '/metrics': '/metrics',
  };
}

/** How long the views `freshness` and `attention` take, and each statement of the cookbook. */
export async function timeStatements(path: string) {
  const db = new Database(path, { readonly: true });
  try {
    const time = (sql: string): Promise<number> => {
      const statement = db.prepare(sql);
      return timeOf(async () => void statement.all());
    };
    const cookbook: Record<string, number> = {};
    for (const { groups = {} } of readFileSync(COOKBOOK, 'utf8').matchAll(RECIPE))
      cookbook[groups.question ?? ''] = await time(groups.sql ?? '');
    const [freshness, attention] = [await time('SELECT * FROM freshness'), await time('SELECT * FROM attention')];
    return { freshness, attention, cookbook };
  } finally {
    db.close();
  }
}

function ask(path: string, sql: string): readonly unknown[] {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare(sql).pluck().all();
  } finally {
    db.close();
  }
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  await work();
  const times: number[] = [];
  while (times.length < REPEATS) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return median(times);
}

/** The mean of the processor time, in ms. */
async function costOf(work: () => Promise<void>): Promise<number> {
  const began = process.cpuUsage();
  for (let repeat = 0; repeat < REPEATS; repeat += 1) await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000 / REPEATS;
}
