import { formatAge } from '../duration.ts';
import type { Verdict } from '../observe/verdict.ts';
import type { LockStatus } from '../store/lock.ts';
import type { Overview, RunSummary } from '../store/queries/overview.ts';
import { describeCounts } from '../sync/report.ts';
import { PLAIN, type Terminal, type Tone, visible } from '../terminal/style.ts';
import { type Cell, formatTable } from '../terminal/table.ts';
import { hang, NO_BREAK, plural, wrap } from '../terminal/text.ts';

/** Where the published copy is kept, and the time that it shows; null if there is none yet. */
export type PublishedCopy = { readonly path: string; readonly at: string | null };

/** What `status` tells. */
export type StatusReport = Verdict &
  Omit<Overview, 'last_pause' | 'token_granted_at'> & {
    readonly database: string;
    readonly worker: LockStatus;
    /** Until when the service must not be called (Retry-After), if that is not over. */
    readonly paused_until: string | null;
    /** Null if none is wanted. */
    readonly published: PublishedCopy | null;
  };

export type View = { readonly now: number; readonly terminal: Terminal | undefined };

/** A narrower terminal shows how long ago something was, and leaves out what can be done without. */
export const WIDE_COLUMNS = 110;

/** What is said of one thing, behind its name. */
type Words = { readonly text: string; readonly tone?: Tone };
type Row = readonly [name: string, words: Words];

const NAME_WIDTH = 16;
const NONE: Words = { text: 'none' };
const HELD_SHOWN = 5;

/** The report in words: the verdict, then a fact a line, then the last runs. */
export function describeStatus(report: StatusReport, view: View): string {
  const { columns, paint } = view.terminal ?? PLAIN;
  const facts = factsOf(report, view).map(([name, { text, tone = 'plain' }]) => {
    const lines = wrap(visible(text), columns - NAME_WIDTH).map((line) => paint(tone, line));
    return name.padEnd(NAME_WIDTH) + lines.join(`\n${' '.repeat(NAME_WIDTH)}`);
  });
  const runs = report.last_runs.length > 0 ? [formatRuns(report.last_runs, view)] : [];
  return [describeVerdict(report, view.terminal ?? PLAIN), facts.join('\n'), ...runs].join('\n\n');
}

const VERDICT_TONES = { good: 'good', warning: 'warning', loading: 'plain', bad: 'bad' } as const;
const NO_WORKER = `no worker runs: nothing new is fetched until one is started with league-sync${NO_BREAK}run`;

/** The verdict in one line; below it that no worker runs, and why the data is not ready. */
function describeVerdict(report: StatusReport, { columns, paint }: Terminal): string {
  const noWorker = report.worker.state === 'none' ? hang('  ', NO_WORKER, columns) : [];
  return [
    ...hang('● ', headlineOf(report), columns).map((line) => paint(VERDICT_TONES[report.state], line)),
    ...noWorker.map((line) => paint('warning', line)),
    ...report.reasons.flatMap(({ message }) => hang('  ', visible(message), columns)),
  ].join('\n');
}

/** The headline as one of several parts, which begin with a small letter. */
function headlineOf({ headline, reasons, freshness }: StatusReport): string {
  const { live_leagues, age_seconds: age } = freshness;
  // What is stale has its age in the headline already.
  const isAged = age !== null && reasons[0]?.reason !== 'stale';
  const parts = [
    headline.charAt(0).toLowerCase() + headline.slice(1),
    ...(age === null ? [] : [plural(live_leagues, 'league')]),
    ...(isAged ? [`synced ${formatAge(age * 1_000)}`] : []),
  ];
  // A line ends before a part, not within one.
  return parts.map((part, index) => (index === 0 ? part : `·${NO_BREAK}${part.replaceAll(' ', NO_BREAK)}`)).join(' ');
}

function factsOf(report: StatusReport, view: View): readonly Row[] {
  const { freshness, held_removals, paused_until, published } = report;
  const { live_leagues, removed_leagues, open_rejections } = freshness;
  const rejections = { text: `${open_rejections}; see the table rejected_leagues`, tone: 'warning' } as const;
  const rows: readonly (Row | undefined)[] = [
    ['database', { text: report.database }],
    describeWorker(report.worker, view),
    ['last good poll', describeSuccess(freshness, view)],
    ['failed polls', describeFailures(report)],
    ['leagues', { text: `${live_leagues} listed, ${removed_leagues} removed` }],
    ['held removals', held_removals.length === 0 ? NONE : describeHeld(held_removals)],
    ['open rejections', open_rejections === 0 ? NONE : rejections],
    describeExpiry(report, view),
    ['last login', describeLogin(report, view)],
    paused_until === null
      ? undefined
      : ['pause', { text: `ends ${when(paused_until, view)}; the service asked for it`, tone: 'warning' }],
    published === null ? undefined : ['published copy', describeCopy(published, view)],
  ];
  return rows.filter((row) => row !== undefined);
}

/** That none runs is said below the verdict. */
function describeWorker(worker: LockStatus, view: View): Row | undefined {
  if (worker.state === 'none') return undefined;
  const { state, holder } = worker;
  if (holder === undefined) return ['worker', { text: 'unknown; the lock file beside the database names no process' }];
  const which = `process ${holder.pid} on ${holder.host}, started ${when(holder.since, view)}`;
  if (state === 'running') return ['worker', { text: `running: ${which}`, tone: 'good' }];
  return ['worker', { text: `said to be ${which}; only that host can tell whether it still runs` }];
}

function describeSuccess({ last_success_at: at, age_seconds: age }: Overview['freshness'], view: View): Words {
  if (at === null) return { text: 'none yet', tone: 'warning' };
  // The database's own reckoning of the age, which is right even if the clock was set back.
  return { text: withAge(at, formatAge((age ?? 0) * 1_000), view) };
}

function describeFailures({ freshness, last_poll, reasons }: StatusReport): Words {
  const { last_success_at, consecutive_failures: failures } = freshness;
  const since = last_success_at === null ? '' : ' since the last good one';
  if (failures === 0) return { text: `none${since}` };
  const said = reasons.map(({ message }) => message);
  const why = withoutSaid(last_poll?.error_message ?? '', said);
  return { text: `${failures}${since}${why && `: ${why}`}`, tone: 'bad' };
}

/** As much of a message as is not in these already. */
function withoutSaid(text: string, said: readonly string[]): string {
  if (said.some((message) => message.includes(text))) return '';
  return said.reduce((rest, message) => rest.replace(message, '').trim(), text);
}

/** By the service's clock, which the expiry is told by; nothing if no process can hold a token. */
function describeExpiry({ token_expires_at: at, token_clock_skew_ms: skewMs }: StatusReport, view: View) {
  if (at === null) return undefined;
  const leftMs = Date.parse(at) - view.now - (skewMs ?? 0);
  const words: Words =
    leftMs > 0
      ? { text: withAge(at, formatAge(-leftMs), view) }
      : { text: withAge(at, `expired ${formatAge(-leftMs)}`, view), tone: 'warning' };
  return ['token expires', words] as const;
}

/** Why a login failed is mostly why the poll did that needed it, and then said there. */
function describeLogin({ last_login: login, last_poll, reasons }: StatusReport, view: View): Words {
  if (login === undefined) return { text: 'none yet' };
  const said = [...reasons.map(({ message }) => message), last_poll?.error_message ?? ''];
  const why = withoutSaid(login.error_message ?? '', said);
  const text = `${when(login.at, view)}, ${login.outcome}${why && `: ${why}`}`;
  return { text, tone: login.outcome === 'ok' ? 'plain' : 'bad' };
}

function describeCopy({ path, at }: PublishedCopy, view: View): Words {
  if (at === null) return { text: `none yet at ${path}`, tone: 'warning' };
  return { text: `${path}, of ${when(at, view)}` };
}

/** How many, which, and what to do: accepted ones wait for the next poll alone. */
function describeHeld(held: Overview['held_removals']): Words {
  const names = held.slice(0, HELD_SHOWN).map((row) => row.league_name ?? row.league_id);
  const list = names.join(', ') + (held.length > HELD_SHOWN ? ', …' : '');
  const accepted = held.filter((row) => row.accepted_at !== null).length;
  const count = `${held.length}${accepted > 0 ? ` (${accepted} accepted)` : ''}`;
  return { text: `${count}: ${list}; see league-sync accept-removals`, tone: 'warning' };
}

/** A time, and how long ago that is. */
function when(at: string, view: View): string {
  return withAge(at, formatAge(view.now - Date.parse(at)), view);
}

/** The age alone at a terminal that has no room for both; its words stay together. */
function withAge(at: string, age: string, { terminal }: View): string {
  const words = age.replaceAll(' ', NO_BREAK);
  return isWide(terminal) ? `${at}${NO_BREAK}(${words})` : words;
}

function isWide(terminal: Terminal | undefined): boolean {
  return terminal === undefined || terminal.columns >= WIDE_COLUMNS;
}

const RUN_TONES: Readonly<Record<string, Tone>> = {
  changed: 'good',
  unchanged: 'faint',
  held: 'warning',
  interrupted: 'warning',
  failed: 'bad',
};

/** The runs as a table that fits the terminal. */
function formatRuns(runs: readonly RunSummary[], { now, terminal }: View): string {
  const spare = (...cells: readonly string[]) => (isWide(terminal) ? cells : []);
  const rows = runs.map((run): readonly Cell[] => [
    String(run.id),
    run.kind,
    ...spare(run.trigger, run.started_at),
    formatAge(now - Date.parse(run.started_at)),
    { text: run.outcome, tone: RUN_TONES[run.outcome] ?? 'plain' },
    describeRun(run),
  ]);
  return formatTable(['run', 'kind', ...spare('trigger', 'started'), 'age', 'outcome', 'what'], rows, terminal);
}

function describeRun(run: RunSummary): string {
  const isGood = run.outcome === 'changed' || run.outcome === 'unchanged' || run.outcome === 'held';
  return run.error_message ?? (isGood && run.kind === 'leagues' ? describeCounts(run, run.http_status) : '');
}
