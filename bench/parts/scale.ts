import { leagueSync, WORKS, type Work } from '../contestants.ts';
import type { Goal } from '../part.ts';
import { type Entry, pick } from '../support/contest.ts';
import { formatCount, formatNumber, formatSpread, markdownTable, median, paragraph } from '../support/statistics.ts';

type Scale = {
  /** In ascending order. */
  readonly sizes: readonly number[];
  /** The size that represents a start without work. */
  readonly start: number;
  readonly idleBytes: number;
  /** The number of rounds with the largest list. */
  readonly fewRounds: number;
};

const LARGEST_FACTOR = 2;
const LARGEST_MEMORY = 10;
const WANTED_MEMORY = 6;
const contestant = leagueSync.name;

/** Whether a league costs as much in a long list as in a short one, and what a list takes in memory. */
export function judgeScale(entries: readonly Entry[], scale: Scale): { goals: readonly Goal[]; text: string } {
  const { sizes, idleBytes } = scale;
  const goals = WORKS.map((work): Goal => {
    const costs = sizes.map((leagues) => median(perLeague(entries, work, leagues, scale)));
    return {
      what: `cost of a league, ${sizes.map(formatCount).join(', ')} leagues, ${work}: highest by lowest`,
      // If the noise of the start exceeds the cost of a short list, there is no ratio, and the goal fails.
      values: [Math.min(...costs) > 0 ? Math.max(...costs) / Math.min(...costs) : Number.NaN],
      unit: '×',
      must: LARGEST_FACTOR,
    };
  });
  const memory = sizes.slice(1).map(
    (leagues): Goal => ({
      what: `highest memory at ${formatCount(leagues)} leagues, above an idle worker, by the body`,
      values: largestOfRounds(entries, leagues, idleBytes),
      unit: '×',
      must: LARGEST_MEMORY,
      aim: WANTED_MEMORY,
    }),
  );
  return { goals: [...goals, ...memory], text: `${about(scale)}\n\n${table(entries, scale)}` };
}

function about({ sizes, idleBytes, fewRounds }: Scale): string {
  return paragraph(`What a league costs league-sync in lists of different lengths: the time of the whole program less that with one
league in the list, by their number; and its highest memory less the ${formatNumber(idleBytes / 1e6)} MB of an idle
worker with 124 leagues, by the size of the body.
Rounds with ${formatCount(sizes.at(-1) ?? 0)} leagues: ${fewRounds}.`);
}

function perLeague(entries: readonly Entry[], work: Work, leagues: number, { start }: Scale): readonly number[] {
  const startMs = median(pick(entries, { contestant, work, leagues: start }));
  return pick(entries, { contestant, work, leagues }, ({ wallMs }) => ((wallMs - startMs) / leagues) * 1_000);
}

/** One value per round: the task with the highest memory usage. */
function largestOfRounds(entries: readonly Entry[], leagues: number, idleBytes: number): readonly number[] {
  const works = WORKS.map((work) => pick(entries, { contestant, work, leagues }, (entry) => above(entry, idleBytes)));
  return (works[0] ?? []).map((_, round) => Math.max(...works.map((values) => values[round] ?? 0)));
}

function above({ peakBytes, bodyBytes }: Entry, idleBytes: number): number {
  return (peakBytes - idleBytes) / bodyBytes;
}

function table(entries: readonly Entry[], scale: Scale): string {
  const rows = WORKS.flatMap((work) =>
    scale.sizes.map((leagues) => {
      const of = (figure: (entry: Entry) => number): string =>
        formatSpread(pick(entries, { contestant, work, leagues }, figure));
      return [
        work,
        formatCount(leagues),
        of(({ bodyBytes }) => bodyBytes / 1e6).split(' ')[0] ?? '',
        of(({ wallMs }) => wallMs / 1_000),
        formatSpread(perLeague(entries, work, leagues, scale)),
        of((entry) => above(entry, scale.idleBytes)),
      ];
    }),
  );
  return markdownTable(['work', 'leagues', 'body, MB', 'time, s', 'a league, µs', 'memory by body'], rows);
}
