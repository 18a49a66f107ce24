import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { GOAL_LEAGUES, type Options, type Part } from './part.ts';
import { loop } from './parts/event-loop.ts';
import { history } from './parts/history.ts';
import { load } from './parts/load.ts';
import { mirror } from './parts/mirror.ts';
import { noise } from './parts/noise.ts';
import { pages } from './parts/pages.ts';
import { readers } from './parts/readers.ts';
import { runs } from './parts/runs.ts';
import { start } from './parts/start.ts';
import { life } from './parts/typical.ts';
import { webhook } from './parts/webhook.ts';
import { year } from './parts/year.ts';
import { YEAR_OF_POLLS } from './year/year.ts';

/** All parts, in the order in which they are measured and reported. */
const PARTS: readonly Part[] = [load, life, start, loop, webhook, mirror, readers, pages, runs, history, noise, year];
const ROUNDS = 3;
const NAMES = PARTS.map(({ name }) => name).join(', ');

const OPTIONS = {
  rounds: { type: 'string', default: String(ROUNDS) },
  leagues: { type: 'string', default: String(GOAL_LEAGUES) },
  polls: { type: 'string', default: String(YEAR_OF_POLLS) },
  folder: { type: 'string', default: tmpdir() },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

export const USAGE = `Usage: npm run bench -- [part …] [option …]

Measures all parts and writes bench/results.md, or these parts and prints the report: ${NAMES}.

  --rounds <count>   how often everything is repeated (${ROUNDS})
  --leagues <count>  the number that programs are compared at (${GOAL_LEAGUES})
  --polls <count>    how many polls the year has (${YEAR_OF_POLLS})
  --folder <folder>  where databases and lists are put (${tmpdir()})
  -h, --help         prints this
`;

/** Invalid command line arguments. */
export class UsageError extends Error {}

export type Request = Omit<Options, 'folder'> & {
  readonly parts: readonly Part[];
  /** The parent of the folder for all databases and lists. */
  readonly parent: string;
  /** Whether everything is measured, at the sizes that the goals are for. */
  readonly isWhole: boolean;
};

/** What to measure, or that help is requested. Throws `UsageError`. */
export function parseArguments(args: readonly string[]): Request | 'help' {
  // Not strict: strict mode rejects negative numbers with a message of Node.
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === 'option' && !Object.hasOwn(OPTIONS, token.name)) {
      throw new UsageError(`no option "${token.rawName}"; --help lists them`);
    }
  }
  if (values.help !== false) return 'help';
  const parts = positionals.length === 0 ? PARTS : positionals.map(partOf);
  const rounds = countOf('rounds', values.rounds);
  const leagues = countOf('leagues', values.leagues);
  const polls = countOf('polls', values.polls);
  const parent = folderOf(values.folder);
  const isWhole = positionals.length === 0 && leagues === GOAL_LEAGUES && polls === YEAR_OF_POLLS;
  return { parts, rounds, leagues, polls, parent, isWhole };
}

function partOf(name: string): Part {
  const part = PARTS.find((one) => one.name === name);
  if (part === undefined) throw new UsageError(`no part "${name}"; there are ${NAMES}`);
  return part;
}

function countOf(option: string, value: unknown): number {
  const number = typeof value === 'string' ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= 1) return number;
  const given = typeof value === 'string' ? `"${value}"` : 'nothing';
  throw new UsageError(`--${option} takes a whole number from 1, not ${given}`);
}

function folderOf(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new UsageError('--folder takes a folder');
  if (statSync(value, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`--folder takes a folder that exists, not "${value}"`);
  }
  return value;
}
