import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Contestant, type Place, WORKS, type Work } from '../contestants.ts';
import {
  digestOf,
  digestOfTable,
  inOtherOrder,
  type Lists,
  makeLeagues,
  type SentLeague,
  withChanges,
  writeLists,
} from './leagues.ts';
import { type Service, startService } from './service.ts';
import { type Cost, runTimed } from './timed.ts';

/** One measured run of a program. */
export type Entry = Cost & {
  readonly contestant: string;
  readonly work: Work;
  readonly leagues: number;
  readonly round: number;
  readonly bodyBytes: number;
};

type Task = { readonly work: Work; readonly lists: Lists; readonly digest: string };
type Contest = {
  readonly leagues: number;
  readonly rounds: number;
  readonly folder: string;
  /** By default the sample leagues. */
  readonly make?: (count: number) => readonly SentLeague[];
};

/**
 * Runs the tasks of all contestants in turn, so that a busy minute of the machine affects all of them. Throws if one of
 * them stores wrong rows.
 */
export async function compete(contestants: readonly Contestant[], contest: Contest): Promise<readonly Entry[]> {
  await using service = await startService(contest.folder, 'contest');
  const tasks = makeTasks(service.home, (contest.make ?? makeLeagues)(contest.leagues));
  const entries: Entry[] = [];
  for (let round = 0; round < contest.rounds; round += 1) {
    const places = contestants.map((contestant) => settle(contestant, service, round));
    for (const { work, lists, digest } of tasks) {
      await service.serve(lists.answer);
      for (const { contestant, place, home } of places) {
        const { name, works = WORKS, command } = contestant;
        if (!works.includes(work)) continue;
        const cost = await runTimed(command(place, lists), home, contest.folder);
        if (digestOfTable(place.database) !== digest) {
          throw new Error(`after "${work}" ${name} has other rows than the ${contest.leagues} that were sent`);
        }
        const { leagues } = contest;
        entries.push({ ...cost, contestant: name, work, leagues, round, bodyBytes: lists.bodyBytes });
      }
    }
    for (const { home } of places) rmSync(home, { recursive: true, force: true });
  }
  return entries;
}

function makeTasks(folder: string, leagues: readonly SentLeague[]): readonly Task[] {
  const lists: Readonly<Record<Work, readonly SentLeague[]>> = {
    'first load': leagues,
    'again, nothing changed': inOtherOrder(leagues),
    'again, 1 % changed': withChanges(leagues),
  };
  return WORKS.map((work) => ({ work, lists: writeLists(folder, work, lists[work]), digest: digestOf(lists[work]) }));
}

/** A folder and an empty database for one contestant in one round. */
function settle(contestant: Contestant, service: Service, round: number) {
  const home = join(service.home, `${round} ${contestant.name}`);
  mkdirSync(home);
  const place: Place = { database: join(home, 'leagues.db'), url: service.url };
  contestant.prepare?.(place);
  return { contestant, place, home };
}

/** One figure per round, in order. */
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
