import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WORKS, type Work } from '../contestants.ts';
import type { Findings, Part } from '../part.ts';
import { inOtherOrder, type Lists, makeLeagues, withChanges, writeLists } from '../support/leagues.ts';
import { startService } from '../support/service.ts';
import { formatCount, formatSpread, markdownTable, paragraph } from '../support/statistics.ts';
import { startWorker } from '../support/worker.ts';

const LEAGUES = 20_000;
/** Includes what follows a poll, such as garbage collection. */
const REST_MS = 500;

const PROBE = join(import.meta.dirname, '../programs/loop-probe.cjs');
const LONGEST_ANSWER_MS = 30_000;
const LOOK_MS = 10;

type Span = { readonly from: number; readonly to: number };

/** How long the event loop of a worker was blocked, in ms. */
type Standstill = {
  /** The longest block, without the time of transactions. */
  readonly outsideMs: number;
  readonly longestMs: number;
  readonly transactionMs: number;
};

type Round = Readonly<Record<Work, Standstill>>;

/** How long a worker with many leagues blocks its event loop. */
export const loop: Part = {
  name: 'loop',
  title: 'The event loop',
  measure: async ({ rounds, folder }): Promise<Findings> => {
    const measured: Round[] = [];
    while (measured.length < rounds) measured.push(await watchPolls(folder));
    const values = measured.map((round) => Math.max(...WORKS.map((work) => round[work].outsideMs)));
    const what = `${formatCount(LEAGUES)} leagues, event loop blocked outside the transaction, longest of a round`;
    return { goals: [{ what, values, unit: 'ms', must: 100, aim: 50 }], text: `${ABOUT}\n\n${table(measured)}` };
  },
};

async function watchPolls(folder: string): Promise<Round> {
  await using service = await startService(folder, 'loop');
  const { home } = service;
  const leagues = makeLeagues(LEAGUES);
  const lists: Readonly<Record<Work, Lists>> = {
    'first load': writeLists(home, 'first', leagues),
    'again, nothing changed': writeLists(home, 'unchanged', inOtherOrder(leagues)),
    'again, 1 % changed': writeLists(home, 'changed', withChanges(leagues)),
  };
  // Excludes the start of the program, which evaluates all its modules.
  await service.serve(writeLists(home, 'start', leagues.slice(0, 1)).answer);
  const answer = join(home, 'loop.json');
  await using worker = startWorker(home, service.url, { NODE_OPTIONS: `--require ${PROBE}`, LOOP_PROBE: answer });
  await worker.started();
  await askStandstill(worker.pid, answer);
  const watch = async (work: Work, outcome: string): Promise<Standstill> => {
    await service.serve(lists[work].answer);
    const found = await worker.poll();
    if (found.outcome !== outcome) throw new Error(`"${work}" ended as "${found.outcome}"`);
    await sleep(REST_MS);
    return askStandstill(worker.pid, answer);
  };
  return {
    'first load': await watch('first load', 'changed'),
    'again, nothing changed': await watch('again, nothing changed', 'unchanged'),
    'again, 1 % changed': await watch('again, 1 % changed', 'changed'),
  };
}

/** How long the loop was blocked since the last call. Throws if no transaction was seen: then nothing was measured. */
async function askStandstill(pid: number, answer: string): Promise<Standstill> {
  rmSync(answer, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (const giveUpAt = Date.now() + LONGEST_ANSWER_MS; !existsSync(answer); await sleep(LOOK_MS)) {
    if (Date.now() > giveUpAt) throw new Error('the worker does not tell how its loop stood still');
  }
  const { blocks, transactions } = JSON.parse(readFileSync(answer, 'utf8')) as Record<
    'blocks' | 'transactions',
    Span[]
  >;
  if (transactions.length === 0) throw new Error('no transaction was seen: the probe no longer fits the program');
  return {
    outsideMs: longest(blocks.map((block) => lengthOf(block) - covered(block, transactions))),
    longestMs: longest(blocks.map(lengthOf)),
    transactionMs: longest(transactions.map(lengthOf)),
  };
}

function lengthOf({ from, to }: Span): number {
  return to - from;
}

function covered(block: Span, spans: readonly Span[]): number {
  const shared = spans.map(({ from, to }) => Math.max(0, Math.min(block.to, to) - Math.max(block.from, from)));
  return shared.reduce((sum, ms) => sum + ms, 0);
}

function longest(lengths: readonly number[]): number {
  return Math.max(0, ...lengths);
}

const ABOUT =
  paragraph(`A timer in a worker with ${formatCount(LEAGUES)} leagues looks how late it fires; lateness over 20 ms is a block. SQLite's
transaction is synchronous, so its share of a block is shown by itself. The worker had one league before its first load.`);

function table(rounds: readonly Round[]): string {
  const rows = WORKS.map((work) => {
    const of = (figure: keyof Standstill): string => formatSpread(rounds.map((round) => round[work][figure]));
    return [work, of('outsideMs'), of('transactionMs'), of('longestMs')];
  });
  return markdownTable(['poll', 'longest outside, ms', 'transaction, ms', 'longest of all, ms'], rows);
}
