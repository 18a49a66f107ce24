import { once } from 'node:events';
import { statSync } from 'node:fs';
import { type IncomingMessage, get as request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { createWebhookRows } from '../../src/store/tables/webhook.ts';
import { formatSize } from '../../src/time/duration.ts';
import type { Findings, Goal, Part } from '../part.ts';
import { makeLeagues, writeLists } from '../support/leagues.ts';
import { type Service, startService } from '../support/service.ts';
import { formatCount, formatNumber, markdownTable, median, paragraph } from '../support/statistics.ts';
import { databaseIn, startWorker, type Worker } from '../support/worker.ts';

const LEAGUES = 124;
const COUNTS = [0, 260_000, 800_000];
const KINDS = ['good', 'failed'] as const;
const REPEATS = 9;
const PROBE_EVERY_MS = 5;
/** How long probes go on after the page has been opened, or the last row was deleted, at least. */
const WATCH_MS = 3_000;
/** How long a worker that has just started is left alone. */
const SETTLE_MS = 1_000;
/** How many old runs stay at most: the last good ones, and those that other rows name. */
const KEPT = 10;

type Kind = (typeof KINDS)[number];
type Figures = Readonly<Record<keyof typeof COLUMNS, number>>;

const COLUMNS = {
  home: 'home page, ms',
  attention: '`attention`, ms',
  freshness: '`freshness`, ms',
  webhook: 'webhook’s query, ms',
  silence: 'silence of `/livez`, page opened, ms',
  pruning: 'silence, runs deleted, page and polls, ms',
  deleted: 'runs deleted in, s',
} as const;

/** What a long list of polls costs. */
export const runs: Part = {
  name: 'runs',
  title: 'Many polls',
  measure: async ({ folder }): Promise<Findings> => {
    const measured: (readonly [what: string, figures: Figures])[] = [];
    for (const kind of KINDS)
      for (const count of COUNTS) measured.push([`${formatCount(count)} ${kind}`, await measure(folder, count, kind)]);
    const rows = measured.map(([what, figures]) => [what, ...Object.values(figures).map(formatNumber)]);
    const goal = (column: keyof Figures, must: number, what: string): Goal => ({
      what: `up to ${formatCount(COUNTS.at(-1) ?? 0)} polls, good or failed: ${what}`,
      values: [Math.max(...measured.map(([, figures]) => figures[column]))],
      unit: 'ms',
      must,
    });
    const goals = [
      goal('silence', 250, 'longest silence of `/livez` while the page is opened'),
      goal(
        'pruning',
        250,
        'longest silence of `/livez` while all but a day is deleted, the page opened and leagues polled',
      ),
      goal('attention', 5, '`attention`'),
      goal('freshness', 5, '`freshness`'),
      goal('webhook', 5, 'the query that the webhook makes each second'),
      goal('home', 60, 'home page'),
    ];
    return { goals, text: `${ABOUT}\n\n${markdownTable(['polls', ...Object.values(COLUMNS)], rows)}` };
  },
};

const ABOUT =
  paragraph(`Polls every ten seconds, made by hand in the form in which the worker writes them: all good, or all failed. The
silence is the longest time between two answers of \`/livez\`, asked every ${PROBE_EVERY_MS} ms: while the home page is opened for the first
time, and while \`LEAGUE_SYNC_RUN_RETENTION\` of a day deletes the rest, the
page is opened and leagues are polled again and again. The others are the median of ${REPEATS}.`);

async function measure(folder: string, count: number, kind: Kind): Promise<Figures> {
  await using service = await startService(folder, 'runs');
  await service.serve(writeLists(service.home, 'list', makeLeagues(LEAGUES)).answer);
  const path = databaseIn(service.home);
  {
    await using worker = start(service);
    await worker.started();
  }
  addRuns(path, count, kind);
  console.error(`  ${formatCount(count)} ${kind}: ${formatSize(statSync(path).size)}`);
  const opened = await measureOpened(service, path);
  const begun = performance.now();
  await using worker = start(service, { LEAGUE_SYNC_RUN_RETENTION: '1d' });
  const url = await worker.url();
  const pruning = await longestSilence(url, async () => {
    await worker.ready();
    while (countOldRuns(path) > KEPT) {
      await Promise.all([worker.poll(), get(`${url}/`)]);
      await sleep(100);
    }
  });
  return { ...opened, pruning, deleted: (performance.now() - begun) / 1_000 };
}

function start({ home, url }: Service, env: Readonly<Record<string, string>> = {}): Worker {
  return startWorker(home, url, { LEAGUE_SYNC_RUN_RETENTION: '365d', ...env });
}

async function measureOpened(service: Service, path: string) {
  await using worker = start(service);
  const url = await worker.url();
  await sleep(SETTLE_MS);
  const silence = await longestSilence(url, () => get(`${url}/`));
  const home: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const began = performance.now();
    await get(`${url}/`);
    home.push(performance.now() - began);
  }
  return { home: median(home), ...measureQueries(path), silence };
}

function measureQueries(path: string) {
  const db = new Database(path, { readonly: true });
  const rows = createWebhookRows(db);
  const time = (query: () => unknown): number =>
    median(
      Array.from({ length: REPEATS }, () => {
        const began = performance.now();
        query();
        return performance.now() - began;
      }),
    );
  const [attention, freshness] = ['attention', 'freshness'].map((view) => {
    const select = db.prepare(`SELECT * FROM ${view}`);
    return time(() => select.all());
  });
  const figures = { attention: attention ?? 0, freshness: freshness ?? 0, webhook: time(rows.states) };
  db.close();
  return figures;
}

/** The longest time between two answers of `/livez` from before `work` until a while after it, in ms. */
async function longestSilence(url: string, work: () => Promise<unknown>): Promise<number> {
  let [longest, last, isOver] = [0, performance.now(), false];
  const probing = (async () => {
    while (!isOver) {
      await get(`${url}/livez`);
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
      await sleep(PROBE_EVERY_MS);
    }
  })();
  // If the work fails, that is the error, and not that the worker stops answering then.
  probing.catch(() => undefined);
  await work();
  await sleep(WATCH_MS);
  isOver = true;
  await probing;
  return longest;
}

/** Each request has a connection of its own: the worker closes idle ones, which a request may be about to use. */
async function get(url: string): Promise<void> {
  const [response] = (await once(request(url, { agent: false }), 'response')) as [IncomingMessage];
  await buffer(response);
  const { statusCode } = response;
  if (statusCode !== 200 && statusCode !== 503) throw new Error(`${url} answered ${statusCode}`);
}

function countOldRuns(path: string): number {
  const db = new Database(path, { readonly: true });
  const sql = `SELECT count(*) FROM runs WHERE started_at < ${instant('-1 day')}`;
  const count = db.prepare<[], number>(sql).pluck().get() ?? 0;
  db.close();
  return count;
}

/** Puts polls every ten seconds after the real ones, up to now. */
function addRuns(path: string, count: number, kind: Kind): void {
  const db = new Database(path);
  db.exec(
    `UPDATE runs SET started_at = ${instant(`-${count * 10 + 60} seconds`)}, finished_at = ${instant(`-${count * 10 + 60} seconds`)}`,
  );
  const values =
    kind === 'good'
      ? `'unchanged', NULL, NULL, ${LEAGUES}, ${LEAGUES}, ${instant("(number * 10 + 50) || ' seconds'", '@since')}`
      : "'failed', 'network', 'connection refused', 0, 0, NULL";
  db.prepare(`WITH RECURSIVE numbers (number) AS (SELECT 1 WHERE @count > 0 UNION ALL SELECT number + 1 FROM numbers WHERE number < @count)
    INSERT INTO runs (kind, trigger, scope, attempts, started_at, finished_at, outcome, error_kind, error_message, received,
      unchanged, stale_at, fingerprint)
    SELECT 'leagues', 'schedule', 'all', 1, ${instant("(number * 10) || ' seconds'", '@since')},
      ${instant("(number * 10) || ' seconds'", '@since')}, ${values}, (SELECT fingerprint FROM runs LIMIT 1) FROM numbers`).run(
    {
      count,
      since: new Date(Date.now() - count * 10_000 - 30_000).toISOString(),
    },
  );
  db.close();
}

function instant(modifier: string, from = "'now'"): string {
  const quoted = modifier.startsWith('(') ? modifier : `'${modifier}'`;
  return `strftime('%Y-%m-%dT%H:%M:%fZ', ${from}, ${quoted})`;
}
