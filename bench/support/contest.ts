import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Contestant, Place, Work } from '../contestants/contestant.ts';
import { inOtherOrder, type Lists, makeLeagues, type SentLeague, withChanges, writeLists } from './leagues.ts';
import { digestOf, digestOfTable } from './rows.ts';
import { type Service, startService } from './service.ts';
import { type Cost, runTimed } from './timed.ts';

/** What each contestant does, one after the other on the same database. */
export const WORKS: readonly Work[] = ['first load', 'again, nothing changed', 'again, 1 % changed'];

/** One measured run of a program. */
export type Entry = Cost & {
  readonly contestant: string;
  readonly work: Work;
  readonly leagues: number;
  readonly round: number;
  readonly bodyBytes: number;
};

type Task = { readonly work: Work; readonly lists: Lists; readonly digest: string };
type Contest = { readonly leagues: number; readonly rounds: number; readonly folder: string };

/**
 * Has the contestants do the same works, in turn, so that a busy minute of the machine hits all of them. Throws where
 * one ends with other rows than were sent.
 */
export async function compete(contestants: readonly Contestant[], contest: Contest): Promise<readonly Entry[]> {
  const folder = mkdtempSync(join(contest.folder, 'contest-'));
  await using service = await startService();
  try {
    const tasks = makeTasks(folder, contest.leagues);
    const entries: Entry[] = [];
    for (let round = 0; round < contest.rounds; round += 1) {
      const { leagues, folder: kept } = contest;
      entries.push(...(await playRound(contestants, { tasks, service, folder, kept, round, leagues })));
    }
    return entries;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeTasks(folder: string, count: number): readonly Task[] {
  const leagues = makeLeagues(count);
  const lists: Readonly<Record<Work, readonly SentLeague[]>> = {
    'first load': leagues,
    'again, nothing changed': inOtherOrder(leagues),
    'again, 1 % changed': withChanges(leagues),
  };
  return WORKS.map((work) => ({
    work,
    lists: writeLists(folder, work, lists[work]),
    digest: digestOf(lists[work]),
  }));
}

type Round = {
  readonly tasks: readonly Task[];
  readonly service: Service;
  readonly folder: string;
  readonly kept: string;
  readonly round: number;
  readonly leagues: number;
};

async function playRound(contestants: readonly Contestant[], round: Round): Promise<readonly Entry[]> {
  const places = contestants.map((contestant) => settle(contestant, round));
  const entries: Entry[] = [];
  for (const { work, lists, digest } of round.tasks) {
    await round.service.serve(lists.answer);
    for (const { contestant, place, home } of places) {
      if (contestant.works?.includes(work) === false) continue;
      const cost = await runTimed(contestant.command(place, lists), home, round.kept);
      if (digestOfTable(place.database) !== digest) {
        throw new Error(`after "${work}" ${contestant.name} has other rows than the ${round.leagues} that were sent`);
      }
      const { leagues, round: index } = round;
      const { name } = contestant;
      entries.push({ ...cost, contestant: name, work, leagues, round: index, bodyBytes: lists.bodyBytes });
    }
  }
  for (const { home } of places) rmSync(home, { recursive: true, force: true });
  return entries;
}

/** A folder and an empty database for one contestant in one round. */
function settle(contestant: Contestant, { folder, round, service }: Round) {
  const home = join(folder, `${round} ${contestant.name}`);
  mkdirSync(home);
  const place: Place = { database: join(home, 'leagues.db'), url: service.url };
  contestant.prepare?.(place);
  return { contestant, place, home };
}

/** One figure of all rounds, in their order. */
export function pick(
  entries: readonly Entry[],
  which: { readonly contestant: string; readonly work: Work; readonly leagues: number },
  figure: (entry: Entry) => number = (entry) => entry.wallMs,
): readonly number[] {
  return entries
    .filter(
      ({ contestant, work, leagues }) =>
        contestant === which.contestant && work === which.work && leagues === which.leagues,
    )
    .map(figure);
}
