import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import pg from 'pg';
import { INITDB, type PostgresServer, startPostgres } from '../../test/postgres/server.ts';
import type { Findings, Part } from '../part.ts';
import { makeFeed } from '../support/feed.ts';
import { makeLeagues, writeLists } from '../support/leagues.ts';
import { makeHome } from '../support/scratch.ts';
import { startService } from '../support/service.ts';
import { formatCount, formatSpread, markdownTable, paragraph, quantile } from '../support/statistics.ts';
import { runTimed } from '../support/timed.ts';
import { databaseIn, PROGRAM, startWorker } from '../support/worker.ts';
import { LIFELIKE } from './typical.ts';

const LEAGUES = 100_000;
const CHANGES = 1_000_000;
/** The command is killed after this time, and called again. */
const KILLED_AFTER_MS = 10_000;
const CHANGED = 20;
const POLLS = 50;
const WATCHED_MS = 20_000;

/** What the mirror in PostgreSQL takes, and whether polls wait for it. */
export const mirror: Part = {
  name: 'mirror',
  title: 'The mirror in PostgreSQL',
  needs: [INITDB],
  measure: async ({ folder }): Promise<Findings> => {
    const server = await startPostgres();
    try {
      const fill = await measureFill(folder, server);
      const steady = await measureSteady(folder, server);
      const late = {
        without: await measureLateness(folder),
        with: await measureLateness(folder, { LEAGUE_SYNC_POSTGRES_URL: server.url('postgres') }),
      };
      const goals = [
        { what: 'a first fill', values: [fill.first.wallMs / 1_000], unit: 's', must: 60 },
        { what: 'its memory, above a call with nothing to do', values: [fill.aboveIdle], unit: 'MB', must: 80 },
        { what: `${CHANGED} changes, from the poll to the mirror`, values: steady, unit: 'ms', must: 300 },
      ];
      const rows = [
        ['a first fill, s', formatSpread([fill.first.wallMs / 1_000])],
        ['the same, killed and called again, s', formatSpread([fill.inTwo / 1_000])],
        ['highest memory of the fill, MB', formatSpread([fill.first.peakBytes / 1e6])],
        ['highest memory of a call with nothing to do, MB', formatSpread([fill.idle.peakBytes / 1e6])],
        [`${CHANGED} changes, from the poll to the mirror, ms`, formatSpread(steady)],
        ['how late polls begin without a mirror, ms', formatLateness(late.without)],
        ['how late polls begin during a fill, ms', formatLateness(late.with)],
      ];
      return { goals, text: `${ABOUT}\n\n${markdownTable(['', 'figure'], rows)}` };
    } finally {
      server.remove();
    }
  },
};

const ABOUT =
  paragraph(`The command fills a new mirror from ${formatCount(LEAGUES)} leagues with ${formatCount(CHANGES)} changes, once
whole, and once killed after ${KILLED_AFTER_MS / 1_000} s and called again. A worker with ${LIFELIKE} leagues, of which ${CHANGED}
change with each of ${POLLS} polls, writes them to the mirror. And a worker polls every second for ${WATCHED_MS / 1_000} s, while
it fills a mirror with ${formatCount(CHANGES)} changes and without one: how long after the second each poll began, the
median, and in parentheses the 99th percentile and the most. The server is on the same machine, without fsync.`);

function formatLateness(late: readonly number[]): string {
  return `${quantile(late, 0.5)} (${quantile(late, 0.99)}, ${Math.max(...late)})`;
}

async function measureFill(folder: string, server: PostgresServer) {
  using home = makeHome(folder, 'mirror');
  const path = databaseIn(home.path);
  await makeFeed(path, makeLeagues(LEAGUES), CHANGES);
  const args = [process.execPath, PROGRAM, 'mirror', '--database', path];
  const envFor = (schema: string) => ({
    LEAGUE_SYNC_POSTGRES_URL: server.url('postgres'),
    LEAGUE_SYNC_POSTGRES_SCHEMA: schema,
  });
  const run = (schema: string) => runTimed({ args, env: envFor(schema) }, home.path, home.path);
  const first = await run('whole');
  const idle = await run('whole');
  const [command = '', ...rest] = args;
  const killed = spawn(command, rest, { env: { PATH: process.env.PATH, ...envFor('parts') }, stdio: 'ignore' });
  const ended = once(killed, 'exit');
  await sleep(KILLED_AFTER_MS);
  killed.kill('SIGKILL');
  await ended;
  const second = await run('parts');
  const counts = await Promise.all(['whole', 'parts'].map((schema) => countChanges(server, schema)));
  if (counts.some((count) => count !== CHANGES)) throw new Error(`the mirrors have ${counts.join(' and ')} changes`);
  const aboveIdle = (first.peakBytes - idle.peakBytes) / 1e6;
  return { first, idle, aboveIdle, inTwo: KILLED_AFTER_MS + second.wallMs };
}

async function connect(server: PostgresServer): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  return client;
}

async function countChanges(server: PostgresServer, schema: string): Promise<number> {
  const client = await connect(server);
  const { rows } = await client.query(`SELECT count(*)::int AS changes FROM ${schema}.league_changes`);
  await client.end();
  return rows[0]?.changes;
}

async function measureSteady(folder: string, server: PostgresServer): Promise<readonly number[]> {
  await using service = await startService(folder, 'mirror');
  const { home } = service;
  const leagues = makeLeagues(LIFELIKE);
  const lists = [0, 1].map((priority) => {
    const changed = leagues.map((league, index) => (index < CHANGED ? { ...league, priority } : league));
    return writeLists(home, `list-${priority}`, changed).answer;
  });
  const client = await connect(server);
  await service.serve(String(lists[1]));
  const env = { LEAGUE_SYNC_POSTGRES_URL: server.url('postgres'), LEAGUE_SYNC_POSTGRES_SCHEMA: 'steady' };
  await using worker = startWorker(home, service.url, env);
  await worker.started();
  const hasChange = async (seq: number): Promise<boolean> => {
    const { rows } = await client.query('SELECT seq::int FROM steady.mirror_state').catch(() => ({ rows: [] }));
    return Number(rows[0]?.seq) >= seq;
  };
  const delays: number[] = [];
  for (let poll = 0; poll < POLLS; poll += 1) {
    while (!(await hasChange(LIFELIKE + poll * CHANGED))) await sleep(1);
    await service.serve(String(lists[poll % 2]));
    await worker.poll();
    const began = performance.now();
    while (!(await hasChange(LIFELIKE + (poll + 1) * CHANGED))) await sleep(1);
    delays.push(performance.now() - began);
  }
  await client.end();
  return delays;
}

/** How long after its second each poll began, in ms. */
async function measureLateness(folder: string, env: Readonly<Record<string, string>> = {}): Promise<readonly number[]> {
  await using service = await startService(folder, 'late');
  const { home } = service;
  const leagues = makeLeagues(LIFELIKE);
  await makeFeed(databaseIn(home), leagues, CHANGES);
  await service.serve(writeLists(home, 'list', leagues).answer);
  await using worker = startWorker(home, service.url, { ...env, LEAGUE_SYNC_SCHEDULE: '* * * * * *' });
  await worker.started();
  await sleep(WATCHED_MS);
  const db = new Database(databaseIn(home), { readonly: true });
  const starts = db
    .prepare<[], string>("SELECT started_at FROM runs WHERE trigger = 'schedule' AND kind = 'leagues'")
    .pluck()
    .all();
  db.close();
  return starts.map((instant) => Date.parse(instant) % 1_000);
}
