import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Findings, Goal, Options, Part } from '../part.ts';
import type { Chart } from '../support/chart.ts';
import { formatCount, formatNumber, markdownTable, paragraph, roundFigure } from '../support/statistics.ts';
import { leaveNoOrphan } from '../support/timed.ts';
import { YEAR_OF_POLLS, type YearFigures } from '../year/year.ts';

const POLLS_A_DAY = 1_440;
const PROGRAM = join(import.meta.dirname, '../programs/year.ts');
/** The database queries of the status page, by their names in `year/measure.ts`. */
const PAGE_QUERIES = [
  'queries of /',
  '/leagues',
  '/changes',
  '/changes of the busiest day',
  '/league of the most changes',
  '/status.json',
];

/** The database and the memory of a worker that polls every minute for a year. */
export const year: Part = {
  name: 'year',
  title: 'A year of polls',
  measure: async (options): Promise<Findings> => {
    const figures = await runYear(options);
    const span = spanOf(figures.polls);
    return {
      title: `${span[0]?.toUpperCase()}${span.slice(1)} of polls`,
      goals: judge(figures, span),
      unjudged: figures.polls === YEAR_OF_POLLS ? undefined : UNJUDGED,
      text: tell(figures, span),
      pictures: [{ file: 'memory-year.svg', alt: `Memory over ${span} of polls`, chart: chartOf(figures, span) }],
    };
  },
};

async function runYear({ polls, folder }: Options): Promise<YearFigures> {
  const child = spawn(process.execPath, [PROGRAM, '--polls', String(polls)], {
    // Variables of the caller's shell must not affect the figures.
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // SIGTERM, not SIGKILL: the child removes a folder of its own.
  using _guard = leaveNoOrphan(() => child.kill('SIGTERM'));
  const [[code], said] = await Promise.all([once(child, 'exit'), text(child.stdout)]);
  if (code !== 0) throw new Error(`the year of polls ended with exit code ${code}`);
  return JSON.parse(said) as YearFigures;
}

/** The time span of the polls, at one a minute. */
function spanOf(polls: number): string {
  return polls === YEAR_OF_POLLS ? 'a year' : `${formatNumber(polls / POLLS_A_DAY)} days`;
}

function judge(
  { bytes, freshnessMs, attentionMs, pagesMs, processorMs, memory }: YearFigures,
  span: string,
): readonly Goal[] {
  const slowest = Math.max(...PAGE_QUERIES.map((name) => pagesMs[name] ?? Number.NaN));
  const growth = (memory.at(-1)?.residentBytes ?? Number.NaN) / (memory[2]?.residentBytes ?? Number.NaN);
  return [
    { what: `${span} of polls, database`, values: [bytes.database / 1e6], unit: 'MB', must: 60 },
    { what: `${span} of polls, \`freshness\``, values: [freshnessMs], unit: 'ms', must: 10 },
    { what: `${span} of polls, \`attention\``, values: [attentionMs], unit: 'ms', must: 10 },
    { what: `${span} of polls, slowest of the status page's queries`, values: [slowest], unit: 'ms', must: 10 },
    ...Object.entries(processorMs).map(([page, ms]) => ({
      what: `${span} of polls, \`${page}\`, processor time`,
      values: [ms],
      unit: 'ms',
      must: 60,
    })),
    {
      what: `${span} of polls, memory flat: resident after the last twelfth by that after the second`,
      values: [growth],
      unit: '×',
      must: 1.1,
    },
  ];
}

const UNJUDGED = `The goals for a year are for ${formatCount(YEAR_OF_POLLS)} polls, so with another number none is judged.`;

const about = (span: string): string =>
  paragraph(`124 leagues are polled every minute for ${span} of a clock that is moved by hand, in one process, with the worker's own
store, session, client and pruning, and a service that answers from memory: 304 where its list is the same, one to three
leagues changed about five times a day, and now and then an outage, an element that cannot be stored, half of the list,
a new field. The database lies in memory where the system has such a place. A time is the median of 20 answers, within
that process and without a network; an answer is the whole page, but for "queries of /". Memory is read after garbage
collection, at the beginning and after each twelfth. The process runs the sources, which takes more of it than the
program that ships; what counts is whether it grows. As long as the database does, so does what SQLite keeps of it in memory, to 16 MB at most.`);

function tell(figures: YearFigures, span: string): string {
  const { polls, pollMs, bytes, outcomes, rows, freshnessMs, attentionMs, pagesMs, processorMs, cookbookMs, memory } =
    figures;
  const sizes = [
    ['database, MB', formatNumber(bytes.database / 1e6)],
    ['write-ahead log at its largest, MB', formatNumber(bytes.largestWal / 1e6)],
    ['processor time of a poll, ms', formatNumber(pollMs)],
    ...Object.entries(outcomes).map(([outcome, count]) => [`polls that ended as ${outcome}`, formatCount(count)]),
  ];
  const months = memory.map(({ day, residentBytes, heapBytes }) => [
    day.toFixed(0),
    formatNumber(residentBytes / 1e6),
    formatNumber(heapBytes / 1e6),
  ]);
  return [
    about(span),
    markdownTable([`${formatCount(polls)} polls`, ''], sizes),
    numbers(['table', 'rows'], rows, formatCount),
    numbers(
      ['asked', 'ms'],
      { 'view freshness': freshnessMs, 'view attention': attentionMs, ...pagesMs },
      formatNumber,
    ),
    numbers(['asked', 'processor time, ms'], processorMs, formatNumber),
    numbers(['asked of the cookbook', 'ms'], cookbookMs, formatNumber),
    markdownTable(['day', 'resident, MB', 'heap, MB'], months),
  ].join('\n\n');
}

function numbers(
  columns: readonly string[],
  values: Readonly<Record<string, number>>,
  format: (value: number) => string,
): string {
  return markdownTable(
    columns,
    Object.entries(values).map(([name, value]) => [name, format(value)]),
  );
}

function chartOf({ memory }: YearFigures, span: string): Chart {
  const line = (name: string, bytes: (figures: (typeof memory)[number]) => number) => ({
    name,
    points: memory.map((figures, month) => [month, roundFigure(bytes(figures) / 1e6)] as const),
  });
  return {
    title: `Memory over ${span} of polls`,
    x: 'month',
    y: 'MB',
    scale: 'linear',
    lines: [line('resident', ({ residentBytes }) => residentBytes), line('heap in use', ({ heapBytes }) => heapBytes)],
  };
}
