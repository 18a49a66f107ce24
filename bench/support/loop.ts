import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

type Span = { readonly from: number; readonly to: number };

/** What held up the event loop of a worker, in ms. */
export type Standstill = {
  /** The longest time without a turn, less what transactions took of it. */
  readonly outsideMs: number;
  readonly longestMs: number;
  readonly transactionMs: number;
};

const PROBE = join(import.meta.dirname, '../programs/loop-probe.cjs');
const LONGEST_ANSWER_MS = 30_000;
const LOOK_MS = 10;

/** What has to be in the environment of a worker whose event loop is watched. */
export function loopWatched(folder: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--require ${PROBE}`, LOOP_PROBE: answerOf(folder) };
}

function answerOf(folder: string): string {
  return join(folder, 'loop.json');
}

/** How its loop stood still since this was asked last. Throws where no transaction was seen: then nothing was. */
export async function askStandstill(pid: number, folder: string): Promise<Standstill> {
  const answer = answerOf(folder);
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
