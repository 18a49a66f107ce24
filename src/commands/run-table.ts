import { formatAge } from '../duration.ts';
import type { RunSummary } from '../store/queries/overview.ts';
import { describeCounts } from '../sync/report.ts';
import type { Paint, Tone } from '../terminal/style.ts';
import { type Cell, formatTable } from '../terminal/table.ts';
import type { Terminal } from './host.ts';

export type RunTableOptions = {
  readonly now: number;
  readonly terminal: Terminal | undefined;
  readonly paint: Paint;
};

/** A terminal that is narrower shows how long ago something was, and leaves out what can be done without. */
export const WIDE_COLUMNS = 110;

type Column = {
  readonly name: string;
  readonly cell: (run: RunSummary, now: number) => Cell;
  /** Whether only a wide terminal, or a pipe, has it. */
  readonly isSpare?: boolean;
};

const COLUMNS: readonly Column[] = [
  { name: 'run', cell: ({ id }) => String(id) },
  { name: 'kind', cell: ({ kind }) => kind },
  { name: 'trigger', cell: ({ trigger }) => trigger, isSpare: true },
  { name: 'started', cell: ({ started_at }) => started_at, isSpare: true },
  { name: 'age', cell: ({ started_at }, now) => formatAge(now - Date.parse(started_at)) },
  { name: 'outcome', cell: ({ outcome }) => ({ text: outcome, tone: TONES[outcome] ?? 'plain' }) },
  { name: 'what', cell: describeRun },
];

const TONES: Readonly<Record<string, Tone>> = {
  changed: 'good',
  unchanged: 'faint',
  held: 'warning',
  interrupted: 'warning',
  failed: 'bad',
};

/** The runs as a table that fits the terminal. */
export function formatRuns(runs: readonly RunSummary[], { now, terminal, paint }: RunTableOptions): string {
  const isWide = terminal === undefined || terminal.columns >= WIDE_COLUMNS;
  const columns = COLUMNS.filter(({ isSpare }) => isWide || isSpare !== true);
  return formatTable(
    columns.map(({ name }) => name),
    runs.map((run) => columns.map(({ cell }) => cell(run, now))),
    { width: terminal?.columns, paint },
  );
}

function describeRun(run: RunSummary): string {
  const good = run.outcome === 'changed' || run.outcome === 'unchanged' || run.outcome === 'held';
  const what = good && run.kind === 'leagues' ? describeCounts(run, run.http_status) : '';
  return run.error_message ?? what;
}
