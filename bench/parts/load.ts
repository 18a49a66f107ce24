import { drizzleScript, leagueSync, sqlite3, sqliteUtils, WORKS, type Work } from '../contestants.ts';
import { type Findings, GOAL_LEAGUES, type Goal, type Options, type Part } from '../part.ts';
import type { Chart, Line } from '../support/chart.ts';
import { compete, type Entry, pick } from '../support/contest.ts';
import { makeUnevenLeagues } from '../support/leagues.ts';
import {
  formatCount,
  formatSpread,
  markdownTable,
  median,
  paragraph,
  ratios,
  roundFigure,
} from '../support/statistics.ts';
import { TIME } from '../support/timed.ts';
import { judgeScale } from './scale.ts';
import { measureIdleBytes } from './typical.ts';

const CONTESTANTS = [leagueSync, sqlite3, sqliteUtils, drizzleScript];
/** A list of half a million leagues takes long, and only one contestant is measured with it. */
const MOST_ROUNDS_AT_THE_LARGEST = 1;

type Rival = { readonly work: Work; readonly rival: string; readonly must: number; readonly aim: number };

const RIVALS: readonly Rival[] = [
  { work: 'first load', rival: sqlite3.name, must: 2, aim: 1.3 },
  { work: 'again, nothing changed', rival: sqlite3.name, must: 0.8, aim: 0.5 },
  { work: 'again, 1 % changed', rival: sqlite3.name, must: 0.8, aim: 0.5 },
  { work: 'first load', rival: sqliteUtils.name, must: 0.6, aim: 0.4 },
  { work: 'again, 1 % changed', rival: sqliteUtils.name, must: 0.4, aim: 0.25 },
  { work: 'first load', rival: drizzleScript.name, must: 0.25, aim: 0.15 },
];

export const load: Part = {
  name: 'load',
  title: 'Large lists, side by side',
  needs: [TIME, 'sqlite3', 'sqlite-utils'],
  measure: async (options): Promise<Findings> => {
    const { leagues, rounds, folder } = options;
    const [start, hundredth, tenth] = [1, Math.ceil(leagues / 100), Math.ceil(leagues / 10)];
    const largest = leagues * 5;
    // A warm-up run of every contestant, so that compiled code is in its cache.
    await compete(CONTESTANTS, { leagues: start, rounds: 1, folder });
    const entries: Entry[] = [...(await compete([leagueSync], { leagues: start, rounds, folder }))];
    for (const count of [hundredth, tenth, leagues]) {
      entries.push(...(await compete(CONTESTANTS, { leagues: count, rounds, folder })));
    }
    const uneven = await compete([leagueSync, sqlite3], { leagues, rounds, folder, make: makeUnevenLeagues });
    const few = Math.min(rounds, MOST_ROUNDS_AT_THE_LARGEST);
    entries.push(...(await compete([leagueSync], { leagues: largest, rounds: few, folder })));
    const idleBytes = await measureIdleBytes(folder);
    const scale = judgeScale(entries, { sizes: [tenth, leagues, largest], start, idleBytes, fewRounds: few });
    return {
      goals: [...RIVALS.map((rival) => judge(entries, rival, options)), judgeUneven(uneven, options), ...scale.goals],
      unjudged: leagues === GOAL_LEAGUES ? undefined : UNJUDGED,
      text: [ABOUT, table(entries, leagues), ABOUT_UNEVEN, table(uneven, leagues), scale.text].join('\n\n'),
      pictures: [
        {
          file: 'time-first.svg',
          alt: 'Time of the first load against the number of leagues',
          chart: chartOf(entries, 'first load', 'time'),
        },
        {
          file: 'time-unchanged.svg',
          alt: 'Time of a list without changes against the number of leagues',
          chart: chartOf(entries, 'again, nothing changed', 'time'),
        },
        {
          file: 'memory.svg',
          alt: 'Highest memory of the first load against the number of leagues',
          chart: chartOf(entries, 'first load', 'memory'),
        },
      ],
    };
  },
};

function judge(entries: readonly Entry[], { work, rival, must, aim }: Rival, { leagues }: Options): Goal {
  const [ours, theirs] = [leagueSync.name, rival].map((contestant) => pick(entries, { contestant, work, leagues }));
  return {
    what: `${formatCount(leagues)} leagues, ${work}, time as a share of ${rival}'s`,
    values: ratios(ours ?? [], theirs ?? []),
    unit: '×',
    must,
    aim,
  };
}

function judgeUneven(entries: readonly Entry[], options: Options): Goal {
  const goal = judge(entries, { work: 'again, nothing changed', rival: sqlite3.name, must: 0.8, aim: 0.5 }, options);
  return { ...goal, what: goal.what.replace('leagues', 'uneven leagues') };
}

const UNJUDGED = `The goals for large lists are for ${formatCount(GOAL_LEAGUES)} leagues, so with another number none is judged.`;

const ABOUT =
  paragraph(`Each program is restarted for each list, and timed from its start to its end: first an empty database,
then the same leagues in another order and with another \`timestamp\` (no \`ETag\`), then one league in a hundred changed.
league-sync and the drizzle script log in and fetch from a service on loopback. sqlite3 and sqlite-utils read a file,
which saves them that; they and the script keep no history, and league-sync's first load includes its change feed.
After each work the 19 columns of all rows are compared with what was sent.`);

const ABOUT_UNEVEN =
  paragraph(`The same with leagues that are uneven: every name has a dash beyond Latin-1, and every optional field is
absent in a third or a quarter of the leagues, at random. A league in the list above has nearly all fields, and letters of
Latin-1 alone.`);

function table(entries: readonly Entry[], leagues: number): string {
  const present = CONTESTANTS.filter(({ name }) => entries.some((entry) => entry.contestant === name));
  const rows = WORKS.flatMap((work) =>
    present
      .filter(({ works = WORKS }) => works.includes(work))
      .map(({ name: contestant }) => {
        const of = (figure: (entry: Entry) => number): readonly number[] =>
          pick(entries, { contestant, work, leagues }, figure);
        const wall = formatSpread(of(({ wallMs }) => wallMs / 1_000));
        const processor = formatSpread(of(({ processorMs }) => processorMs / 1_000));
        return [work, contestant, wall, processor, formatSpread(of(({ peakBytes }) => peakBytes / 1e6))];
      }),
  );
  const heading = [`${formatCount(leagues)} leagues`, 'by', 'time, s', 'of it processor, s', 'highest memory, MB'];
  return markdownTable(heading, rows);
}

function chartOf(entries: readonly Entry[], work: Work, figure: 'time' | 'memory'): Chart {
  const value = ({ wallMs, peakBytes }: Entry): number => (figure === 'time' ? wallMs / 1_000 : peakBytes / 1e6);
  const lines = CONTESTANTS.filter(({ works = WORKS }) => works.includes(work)).map(({ name }): Line => {
    const own = entries.filter((entry) => entry.contestant === name && entry.work === work && entry.leagues > 1);
    const sizes = [...new Set(own.map((entry) => entry.leagues))];
    const medianOf = (size: number): number => median(own.filter(({ leagues }) => leagues === size).map(value));
    return { name, points: sizes.map((size) => [size, roundFigure(medianOf(size))]) };
  });
  const list = work === 'first load' ? 'a first load' : 'an unchanged list';
  return {
    title: figure === 'time' ? `Time of ${list}` : `Highest memory of ${list}`,
    x: 'leagues in the list',
    y: figure === 'time' ? 'seconds' : 'MB',
    scale: 'logarithmic',
    lines,
  };
}
