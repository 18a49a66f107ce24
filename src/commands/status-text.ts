import {
  causeOf,
  OUTPUTS,
  outputCondition,
  type Verdict,
  withoutRepeated,
  withoutSettings,
  worstFirst,
} from '../observe/verdict.ts';
import { isNote, type OutputStatus, type Overview, type RunSummary } from '../store/queries/overview.ts';
import type { LockStatus } from '../store/worker-lock.ts';
import { describeCounts } from '../sync/report.ts';
import { escapeAdvice, isPipe, NARROW_COLUMNS, type Terminal, type Tone } from '../terminal/style.ts';
import { type Cell, formatRecord, formatTable } from '../terminal/table.ts';
import { hangingIndent, NO_BREAK, plural } from '../terminal/text.ts';
import { timeOfDay } from '../time/clock.ts';
import { formatAge, formatCount } from '../time/duration.ts';

export type StatusReport = Verdict &
  Omit<Overview, 'last_retry_after' | 'token_granted_at'> & {
    readonly database: string;
    readonly worker: LockStatus;
    /** What a running worker says of its database that the file cannot. */
    readonly worker_faults: readonly string[];
    /** When the pending `Retry-After` ends; null if there is none. */
    readonly paused_until: string | null;
  };

/** A terminal with fewer columns shows ages without timestamps. */
const WIDE_COLUMNS = 110;

type Row = readonly [name: string, text: string, tone?: Tone];

const MAX_HELD = 5;
const RUNS_SHOWN = 10;
/** At a terminal equal runs are one line: more than a week, at a poll every five minutes. */
export const RUNS_READ = 2_500;
/** The most lines of the result of a run. */
const MAX_LINES = 3;

const VERDICT_TONES = { good: 'good', warning: 'warning', loading: 'plain', bad: 'bad' } as const;
const NO_WORKER = `no worker runs: nothing new is fetched until you start one with league-sync run`;
/** Advice that is true only of a worker that runs. */
const TRIES_AGAIN = 'The worker tries again by itself. If it keeps failing: ';
/** Advice that `NO_WORKER` gives, and what is true only of a worker that runs. */
const START = /^Start the worker if none runs: league-sync run\.(?! Its) ?(?:If one runs, [^.;]*[.;] ?)?/;
/** The rows of `attention` that make the worker unready. */
const BAD = new Set<string>(['stale', 'credentials-refused']);

export function formatStatus(report: StatusReport, now: number, terminal: Terminal): string {
  const { columns, paint } = terminal;
  const item = (lead: string, text: string, tone: Tone): readonly string[] =>
    hangingIndent(lead, escapeAdvice(text, terminal), columns).map((line) => paint(tone, line));
  const verdict = [
    ...item('● ', headlineOf(report), VERDICT_TONES[report.state]),
    ...(report.worker.state === 'none' ? item('  ', NO_WORKER, 'warning') : []),
  ];
  const attention = worstFirst(report.attention).map((row) => {
    const summary = row.what === 'credentials-refused' ? withoutSettings(row.summary) : row.summary;
    const advice = adviceOf(row, report);
    return [
      ...item('! ', summary, BAD.has(row.what) ? 'bad' : isNote(row) ? 'plain' : 'warning'),
      ...(advice === '' ? [] : item('  → ', advice, 'plain')),
    ].join('\n');
  });
  const rows = rowsOf(report, createTimes(now, terminal)).map(
    ([name, text, tone]) => [name, terminal.asTyped(text), tone] as const,
  );
  const runs = report.last_runs.length > 0 ? formatRuns(report, now, terminal) : '';
  const parts = [verdict.join('\n'), ...attention, formatRecord(rows, terminal), runs];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Empty if another row, or the verdict, gives it: failing polls are why the data is stale. */
function adviceOf(row: StatusReport['attention'][number], { attention, worker }: StatusReport): string {
  const isFailing = attention.some(({ what }) => what === 'failing');
  if ((row.what === 'stale' && isFailing) || !withoutRepeated(attention).includes(row)) return '';
  const { what_to_do: advice } = row;
  return worker.state === 'none' ? advice.replace(TRIES_AGAIN, 'To see why: ').replace(START, '') : advice;
}

type Times = ReturnType<typeof createTimes>;

function createTimes(now: number, { columns }: Terminal) {
  const withAge = (at: string, age: string): string => (columns >= WIDE_COLUMNS ? `${at}${NO_BREAK}(${age})` : age);
  return { now, withAge, ago: (at: string): string => withAge(at, formatAge(now - Date.parse(at))) };
}

/** Such as `up to date · 124 leagues · synced 9 s ago`. Wraps only in the first part and before each `·`. */
function headlineOf({ headline, freshness }: StatusReport): string {
  const { live_leagues, age_seconds: age } = freshness;
  const parts = [headline.charAt(0).toLowerCase() + headline.slice(1)];
  if (age !== null) parts.push(plural(live_leagues, 'league'));
  if (age !== null && !headline.endsWith(formatAge(age * 1_000))) parts.push(`synced ${formatAge(age * 1_000)}`);
  return parts.map((part, index) => (index === 0 ? part : `·${NO_BREAK}${part.replaceAll(' ', NO_BREAK)}`)).join(' ');
}

function rowsOf(report: StatusReport, times: Times): readonly Row[] {
  const { paused_until: pausedUntil, outputs } = report;
  const { live_leagues, removed_leagues, last_success_at: at, age_seconds: age } = report.freshness;
  return [
    ['database', report.database],
    ...describeWorker(report.worker, times),
    ...report.worker_faults.map((fault) => ['worker says', fault, 'bad'] as const),
    at === null
      ? ['last good poll', 'none yet', 'warning']
      : // `last_success_at` may lie in the future if the clock was set back; the age in `freshness` allows for that.
        ['last good poll', times.withAge(at, formatAge((age ?? 0) * 1_000))],
    ['leagues', `${formatCount(live_leagues)} live, ${formatCount(removed_leagues)} removed`],
    describeHeld(report),
    ...describeExpiry(report, times),
    describeLogin(report, times),
    ...(pausedUntil === null
      ? []
      : [['Retry-After', `no requests until ${times.ago(pausedUntil)}`, 'warning'] as const]),
    ...outputs.map((output) => describeOutput(output, times)),
  ];
}

/** Empty if no worker runs, since the verdict already says so. */
function describeWorker(worker: LockStatus, times: Times): readonly Row[] {
  if (worker.state === 'none') return [];
  const { state, holder } = worker;
  if (holder === undefined) return [['worker', 'unknown: the lock file does not say who holds it']];
  const owner = `process ${holder.pid} on ${holder.host}, started ${times.ago(holder.since)}`;
  if (state === 'running') return [['worker', `running: ${owner}`, 'good']];
  return [['worker', `${owner}, by the lock file; only that host or container can tell whether it still runs`]];
}

/** The row of `attention` names them, unless all are accepted. */
function describeHeld({ held_removals: held }: StatusReport): Row {
  if (held.length === 0) return ['held removals', 'none'];
  const accepted = held.filter((row) => row.accepted_at !== null).length;
  const names = held.slice(0, MAX_HELD).map((row) => row.league_name ?? row.league_id);
  const list = accepted < held.length ? '' : `: ${names.join(', ')}${held.length > MAX_HELD ? ', …' : ''}`;
  const count = `${formatCount(held.length)}${accepted > 0 ? ` (${formatCount(accepted)} accepted)` : ''}`;
  return ['held removals', count + list, 'warning'];
}

/** The timestamp is by the service's clock; the age beside it is corrected for the clock skew. */
function describeExpiry(report: StatusReport, times: Times): readonly Row[] {
  const { token_expires_at: at, token_clock_skew_ms: skewMs } = report;
  if (at === null) return [];
  const leftMs = Date.parse(at) - times.now - (skewMs ?? 0);
  if (leftMs > 0) return [['token expires', times.withAge(at, formatAge(-leftMs))]];
  return [['token expires', times.withAge(at, `expired ${formatAge(-leftMs)}`), 'warning']];
}

/** Shows the error of a failed login only if `attention` does not show it as the error of a poll. */
function describeLogin({ last_login: login, attention }: StatusReport, times: Times): Row {
  if (login === undefined) return ['last login', 'none yet'];
  const { outcome, error_message } = login;
  const why = outcome === 'failed' && !attention.some(({ what }) => what === 'failing') ? `: ${error_message}` : '';
  return ['last login', `${times.ago(login.at)}, ${outcome}${why}`, outcome === 'ok' ? 'plain' : 'bad'];
}

function describeOutput(output: OutputStatus, times: Times): Row {
  const { label, pending_changes: pending, last_error: error, next_attempt_at: next, done_at } = output;
  const { title, done } = OUTPUTS[output.name];
  const lack = pending === null ? [] : [pending === 0 ? 'nothing pending' : `${plural(pending, 'change')} pending`];
  const say = (...parts: readonly string[]): string => `${label}: ${parts.join(', ')}`;
  const last = done_at === null ? `nothing ${done} yet` : `last ${done} ${times.ago(done_at)}`;
  const since = output.failing_since === null ? '' : ` since ${timeOfDay(Date.parse(output.failing_since), times.now)}`;
  const failed = `failed ${plural(output.failed_attempts, 'time')}${since} (${causeOf(output)})`;
  const again = next === null ? [] : [`next attempt ${Date.parse(next) < times.now + 1_000 ? 'now' : times.ago(next)}`];
  switch (outputCondition(output)) {
    case 'stopped':
      return [title, say('stopped, since it answered 410 (Gone)', ...lack), 'bad'];
    case 'failing':
      return [title, say(...lack, failed, ...again), 'warning'];
    case 'noted':
      return [title, say(...lack, last, `${error}`), 'warning'];
    case 'well':
      return [title, say(...lack, last)];
  }
}

const RUN_TONES: Readonly<Record<string, Tone>> = {
  changed: 'good',
  unchanged: 'faint',
  held: 'warning',
  interrupted: 'warning',
  failed: 'bad',
};

/** `since` is undefined if there may be more such runs before those that were read. */
type Told = {
  readonly run: RunSummary;
  readonly what: string;
  readonly count: number;
  readonly since: string | undefined;
};

/** At a terminal, equal runs in a row of one kind are one, so that the last other one is in view. */
function foldRuns(runs: readonly RunSummary[], isFolding: boolean): readonly Told[] {
  const told: Told[] = [];
  /** The kinds of which another run follows that is not told. */
  const ended = new Set<RunSummary['kind']>();
  for (const run of runs) {
    const { kind, outcome, started_at: since } = run;
    if (ended.has(kind)) continue;
    const isGood = outcome === 'changed' || outcome === 'unchanged' || outcome === 'held';
    const counts = isGood && kind === 'leagues' ? describeCounts(run, run.http_status) : '';
    const what = run.error_message ?? counts;
    const index = told.findLastIndex((one) => one.run.kind === kind);
    const last = told[index];
    if (isFolding && last?.run.outcome === outcome && last.what === what && outcome !== 'changed')
      told[index] = { ...last, count: last.count + 1, since };
    else if (told.length === RUNS_SHOWN) ended.add(kind);
    else told.push({ run, what, count: 1, since });
  }
  const isCut = runs.length === RUNS_READ;
  return told.map((one, index) => {
    const isLast = told.findLastIndex(({ run }) => run.kind === one.run.kind) === index;
    return isCut && isLast && !ended.has(one.run.kind) ? { ...one, since: undefined } : one;
  });
}

function formatRuns({ last_runs, attention }: StatusReport, now: number, terminal: Terminal): string {
  const isAdvised = attention.some(({ what }) => what === 'failing' || what === 'credentials-refused');
  const withoutAdvice = (run: RunSummary): RunSummary =>
    isAdvised && run.kind === 'leagues' && run.error_message !== null
      ? { ...run, error_message: withoutSettings(run.error_message) }
      : run;
  const ifWide = (...cells: readonly string[]) => (terminal.columns >= WIDE_COLUMNS ? cells : []);
  const ifNotNarrow = (...cells: readonly string[]) => (terminal.columns < NARROW_COLUMNS ? [] : cells);
  const rows = foldRuns(last_runs.map(withoutAdvice), !isPipe(terminal)).map(
    ({ run, what, count, since }): readonly Cell[] => {
      const times = since === undefined ? 'or more' : `since ${timeOfDay(Date.parse(since), now)}`;
      const many = count === 1 ? '' : `×${count} ${times}`;
      return [
        ...ifNotNarrow(String(run.id)),
        run.kind,
        ...ifWide(run.trigger, run.started_at),
        formatAge(now - Date.parse(run.started_at)),
        { text: run.outcome, tone: RUN_TONES[run.outcome] ?? 'plain' },
        terminal.asTyped([many, what].filter((part) => part !== '').join(': ')),
      ];
    },
  );
  const columns = [...ifNotNarrow('run'), 'kind', ...ifWide('trigger', 'started'), 'age', 'outcome', 'what'];
  return formatTable(columns, rows, terminal, MAX_LINES);
}
