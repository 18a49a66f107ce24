import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Findings, Part } from '../part.ts';
import { inOtherOrder, makeLeagues, withChanges, writeLists } from '../support/leagues.ts';
import { askStandstill, loopWatched, type Standstill } from '../support/loop.ts';
import { formatCount, markdownTable, paragraph } from '../support/markdown.ts';
import { settingsFor } from '../support/program.ts';
import { startService } from '../support/service.ts';
import { formatSpread } from '../support/statistics.ts';
import { startWorker } from '../support/worker.ts';

const LEAGUES = 20_000;
const POLLS = ['first load', 'again, nothing changed', 'again, 1 % changed'] as const;
/** So that whatever follows a poll, such as collecting garbage, is counted with it. */
const REST_MS = 500;

type Round = Readonly<Record<(typeof POLLS)[number], Standstill>>;

/** For how long a worker with many leagues answers nobody. */
export const loop: Part = {
  name: 'loop',
  title: 'The event loop',
  measure: async ({ rounds, folder }): Promise<Findings> => {
    const measured: Round[] = [];
    while (measured.length < rounds) measured.push(await watchPolls(folder));
    const values = measured.map((round) => Math.max(...POLLS.map((poll) => round[poll].outsideMs)));
    const what = `${formatCount(LEAGUES)} leagues, event loop blocked outside the transaction, longest of a round`;
    return { goals: [{ what, values, unit: 'ms', must: 100, aim: 50 }], text: `${ABOUT}\n\n${table(measured)}` };
  },
};

async function watchPolls(folder: string): Promise<Round> {
  const home = mkdtempSync(join(folder, 'loop-'));
  const leagues = makeLeagues(LEAGUES);
  const lists = {
    'first load': writeLists(home, 'first', leagues),
    'again, nothing changed': writeLists(home, 'unchanged', inOtherOrder(leagues)),
    'again, 1 % changed': writeLists(home, 'changed', withChanges(leagues)),
  };
  await using service = await startService();
  try {
    // The start of the program, which evaluates all its modules, is no poll.
    await service.serve(writeLists(home, 'start', leagues.slice(0, 1)).answer);
    const env = { ...settingsFor(service.url, join(home, 'leagues.db')), ...loopWatched(home) };
    await using worker = startWorker({ folder: home, env });
    await worker.started();
    await askStandstill(worker.pid, home);
    const watch = async (poll: (typeof POLLS)[number], outcome: string): Promise<Standstill> => {
      await service.serve(lists[poll].answer);
      const found = await worker.poll();
      if (found.outcome !== outcome) throw new Error(`"${poll}" ended as "${found.outcome}"`);
      await sleep(REST_MS);
      return askStandstill(worker.pid, home);
    };
    return {
      'first load': await watch('first load', 'changed'),
      'again, nothing changed': await watch('again, nothing changed', 'unchanged'),
      'again, 1 % changed': await watch('again, 1 % changed', 'changed'),
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const ABOUT =
  paragraph(`A timer in a worker with ${formatCount(LEAGUES)} leagues looks how late it fires; lateness over 20 ms is a block. SQLite's
transaction is synchronous, so its share of a block is shown by itself. The worker had one league before its first load.`);

function table(rounds: readonly Round[]): string {
  const rows = POLLS.map((poll) => {
    const of = (figure: keyof Standstill): string => formatSpread(rounds.map((round) => round[poll][figure]));
    return [poll, of('outsideMs'), of('transactionMs'), of('longestMs')];
  });
  return markdownTable(['poll', 'longest outside, ms', 'transaction, ms', 'longest of all, ms'], rows);
}
