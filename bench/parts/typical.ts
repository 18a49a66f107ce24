import { setTimeout as sleep } from 'node:timers/promises';
import type { Findings, Part } from '../part.ts';
import { inOtherOrder, makeLeagues, writeLists } from '../support/leagues.ts';
import { processorMs, residentBytes, walGrowth, walPosition } from '../support/meters.ts';
import { startService } from '../support/service.ts';
import { formatSpread, markdownTable, paragraph } from '../support/statistics.ts';
import { databaseIn, startWorker, type Worker } from '../support/worker.ts';

/** The number of leagues of the real service. */
export const LIFELIKE = 124;
const POLLS = 100;
const IDLE_MS = 5_000;
const AFTER_START_MS = 3_000;
const LOOKED_AT = ['/metrics', '/'];

type PollCost = { readonly processorMs: number; readonly walBytes: number; readonly lineBytes: number };
type Life = { readonly same: PollCost; readonly shuffled: PollCost; readonly residentBytes: number };

/** The resource usage of a typical worker, which has little to do. */
export const life: Part = {
  name: 'life',
  title: 'A worker in real life',
  measure: async ({ rounds, folder }): Promise<Findings> => {
    const lives: Life[] = [];
    while (lives.length < rounds) lives.push(await live(folder));
    const of = (figure: (life: Life) => number): readonly number[] => lives.map(figure);
    const what = `${LIFELIKE} leagues, unchanged poll in a warm worker`;
    return {
      goals: [
        { what: `${what}, processor time`, values: of(({ same }) => same.processorMs), unit: 'ms', must: 5, aim: 2 },
        {
          what: `${what}, added to the write-ahead log`,
          values: of(({ same }) => same.walBytes / 1e3),
          unit: 'kB',
          must: 12,
          aim: 9,
        },
        {
          what: `idle after ${2 * POLLS} polls, metrics and page asked for, resident`,
          values: of((one) => one.residentBytes / 1e6),
          unit: 'MB',
          must: 125,
          aim: 95,
        },
      ],
      text: `${ABOUT}\n\n${table(lives)}`,
    };
  },
};

async function live(folder: string): Promise<Life> {
  await using service = await startService(folder, 'life');
  const { home } = service;
  const leagues = makeLeagues(LIFELIKE);
  const [same, shuffled] = [writeLists(home, 'same', leagues), writeLists(home, 'shuffled', inOtherOrder(leagues))];
  await service.serve(same.answer);
  await using worker = startWorker(home, service.url);
  const database = databaseIn(home);
  await worker.started();
  await pollOften(worker, database);
  const cost = await pollOften(worker, database);
  const resident = await idle(worker);
  // The order changes every time, so comparing the bytes of two lists shows a difference.
  const swap = async (index: number): Promise<void> => service.serve((index % 2 === 0 ? shuffled : same).answer);
  return { same: cost, shuffled: await pollOften(worker, database, swap), residentBytes: resident };
}

/** Polls back to back; returns the means. */
async function pollOften(
  worker: Worker,
  database: string,
  prepare: (index: number) => Promise<void> = async () => undefined,
): Promise<PollCost> {
  const beganMs = processorMs(worker.pid);
  let [walBytes, lineBytes, position] = [0, 0, walPosition(database)];
  for (let index = 0; index < POLLS; index += 1) {
    await prepare(index);
    const poll = await worker.poll();
    if (poll.outcome !== 'unchanged') throw new Error(`a poll without changes ended as "${poll.outcome}"`);
    const reached = walPosition(database);
    walBytes += walGrowth(position, reached) / POLLS;
    lineBytes += poll.lineBytes / POLLS;
    position = reached;
  }
  return { processorMs: (processorMs(worker.pid) - beganMs) / POLLS, walBytes, lineBytes };
}

async function idle(worker: Worker): Promise<number> {
  const url = await worker.url();
  for (const path of LOOKED_AT) {
    const response = await fetch(url + path);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  }
  await sleep(IDLE_MS);
  return residentBytes(worker.pid);
}

/** The resident memory of a worker with the real number of leagues, after its start. */
export async function measureIdleBytes(folder: string): Promise<number> {
  await using service = await startService(folder, 'idle');
  await service.serve(writeLists(service.home, 'idle', makeLeagues(LIFELIKE)).answer);
  await using worker = startWorker(service.home, service.url);
  await worker.started();
  await sleep(AFTER_START_MS);
  return residentBytes(worker.pid);
}

const ABOUT =
  paragraph(`A worker with the ${LIFELIKE} sample leagues, as shipped and with its page on. ${POLLS} polls back to back (asked for
by SIGHUP, which costs a line in the log and is part of the figures), after ${POLLS} that are not counted: processor time from
\`/proc\`, bytes added to SQLite's write-ahead log, bytes of the line that each poll leaves in the program's log. Every
answer has a \`timestamp\` of its own. Then \`/metrics\` and \`/\` are asked for, and memory is read after ${IDLE_MS / 1_000} s of rest.`);

function table(lives: readonly Life[]): string {
  const row = (what: string, figure: (life: Life) => number): readonly string[] => [
    what,
    formatSpread(lives.map(figure)),
  ];
  return markdownTable(
    ['an unchanged poll', 'mean'],
    [
      row('processor time, ms', ({ same }) => same.processorMs),
      row('the same, list in another order than before, ms', ({ shuffled }) => shuffled.processorMs),
      row('write-ahead log, bytes', ({ same }) => same.walBytes),
      row('line in the log, bytes', ({ same }) => same.lineBytes),
      row('resident when idle, MB', (one) => one.residentBytes / 1e6),
    ],
  );
}
