import { setTimeout as sleep } from 'node:timers/promises';
import type { Findings, Part } from '../part.ts';
import { makeLeagues, writeLists } from '../support/leagues.ts';
import { residentBytes } from '../support/meters.ts';
import { startService } from '../support/service.ts';
import { formatCount, formatNumber, formatSpread, markdownTable, paragraph, quantile } from '../support/statistics.ts';
import { startWorker } from '../support/worker.ts';
import { LIFELIKE } from './typical.ts';

/** As many as may wait at once. */
const WAITERS = 100;
const POLLS = 500;
const CHANGED = 20;
const REST_MS = 3_000;
/** How long a waiter may be behind before something is wrong. */
const PATIENCE_MS = 60_000;

type Answer = { readonly next: number; readonly changes: readonly { readonly seq: number; readonly at: string }[] };

/** What it costs to let programs wait for changes, and how soon they have them. */
export const readers: Part = {
  name: 'readers',
  title: 'Programs that wait for changes',
  measure: async ({ folder }): Promise<Findings> => {
    const { grownBytes, latenciesMs } = await measureWaiters(folder);
    const [median, most] = [0.5, 1].map((share) => quantile(latenciesMs, share));
    const late = quantile(latenciesMs, 0.99);
    const what = `${WAITERS} programs wait for changes`;
    const goals = [
      { what: `${what}, from the commit to the answer, 99 %`, values: [late], unit: 'ms', must: 100 },
      { what: `${what}, memory`, values: [grownBytes / 1e6], unit: 'MB', must: 10 },
    ];
    const rows = [
      ['from the commit to the answer, median, ms', formatNumber(median ?? Number.NaN)],
      ['the same, 99 %, ms', formatNumber(late)],
      ['the same, most, ms', formatNumber(most ?? Number.NaN)],
      ['memory of the worker while they wait, above that without them, MB', formatSpread([grownBytes / 1e6])],
    ];
    return { goals, text: `${ABOUT}\n\n${markdownTable([what, ''], rows)}` };
  },
};

const ABOUT =
  paragraph(`${WAITERS} programs, in one process, follow \`/changes.json?wait=50s\` of a worker with ${LIFELIKE} leagues, while
${POLLS} polls change ${CHANGED} leagues each: ${formatCount(POLLS * CHANGED)} changes, and each program must have each of
them once. The next poll begins when all have those of the last. The time of the commit is \`at\` of the changes, which is
a little earlier, so that a figure includes what the disk takes. Memory is read after ${REST_MS / 1_000} s of rest, before the first
program comes and when all wait for the first change.`);

async function measureWaiters(folder: string) {
  await using service = await startService(folder, 'readers');
  const { home } = service;
  const leagues = makeLeagues(LIFELIKE);
  const lists = [0, 1].map((priority) => {
    const changed = leagues.map((league, index) => (index < CHANGED ? { ...league, priority } : league));
    return writeLists(home, `list-${priority}`, changed).answer;
  });
  await service.serve(String(lists[1]));
  await using worker = startWorker(home, service.url);
  await worker.started();
  const url = await worker.url();
  // Loads what the first answer needs.
  await read(url, 0);
  await sleep(REST_MS);
  const before = residentBytes(worker.pid);
  const last = LIFELIKE + POLLS * CHANGED;
  const waiters = Array.from({ length: WAITERS }, () => follow(url, LIFELIKE, last));
  await sleep(REST_MS);
  const grownBytes = residentBytes(worker.pid) - before;
  for (let poll = 1; poll <= POLLS; poll += 1) {
    await service.serve(String(lists[(poll + 1) % 2]));
    await worker.poll();
    const giveUpAt = Date.now() + PATIENCE_MS;
    while (waiters.some(({ seq }) => seq() < LIFELIKE + poll * CHANGED)) {
      if (Date.now() > giveUpAt) throw new Error('a program that waits for changes does not get them');
      await sleep(1);
    }
  }
  const latencies = await Promise.all(waiters.map(({ done }) => done));
  return { grownBytes, latenciesMs: latencies.flat() };
}

/** Follows the feed to its end: `done` resolves to how long after each commit its changes were there, in ms. */
function follow(url: string, since: number, last: number) {
  let seq = since;
  const run = async (): Promise<readonly number[]> => {
    const latencies: number[] = [];
    while (seq < last) {
      const { next, changes } = await read(url, seq);
      const now = Date.now();
      const isNext = changes.every((change, index) => change.seq === seq + index + 1);
      if (!isNext || next !== seq + changes.length)
        throw new Error(`a program got other changes than those after ${seq}`);
      latencies.push(...new Set(changes.map(({ at }) => now - Date.parse(at))));
      seq = next;
    }
    return latencies;
  };
  return { seq: () => seq, done: run() };
}

async function read(url: string, since: number): Promise<Answer> {
  const response = await fetch(`${url}/changes.json?since=${since}&limit=1000&wait=50s`);
  if (!response.ok) throw new Error(`/changes.json was answered with ${response.status}`);
  return (await response.json()) as Answer;
}
