import { formatAge } from '../duration.ts';
import type { Verdict } from '../observe/verdict.ts';
import type { LockStatus } from '../store/lock.ts';
import type { Overview } from '../store/queries/overview.ts';
import { createPaint, type Paint, type Tone, visible } from '../terminal/style.ts';
import { NO_BREAK, wrap } from '../terminal/table.ts';
import type { Terminal } from './host.ts';
import { formatRuns, WIDE_COLUMNS } from './run-table.ts';
import { describeVerdict } from './verdict-lines.ts';

/** Where the published copy is kept, and the instant that it shows; null where there is none yet. */
export type PublishedCopy = { readonly path: string; readonly at: string | null };

/** How things stand with a database: what `status` tells. */
export type Standing = Verdict &
  Omit<Overview, 'last_pause' | 'token_granted_at'> & {
    readonly database: string;
    readonly worker: LockStatus;
    /** Until when the service asked to be left alone, where that is not over. */
    readonly paused_until: string | null;
    /** Null where none is wanted. */
    readonly published: PublishedCopy | null;
  };

export type View = { readonly now: number; readonly terminal: Terminal | undefined };

type Fact = { readonly name: string; readonly text: string; readonly tone?: Tone };

const NAME_WIDTH = 16;

/** The standing in words: the verdict, then a fact a line, then the last runs. */
export function describeStanding(standing: Standing, view: View): string {
  const { terminal } = view;
  const paint = createPaint(terminal?.color ?? false);
  const columns = terminal?.columns ?? Number.POSITIVE_INFINITY;
  const head = describeVerdict(standing, { columns, paint });
  const facts = factsOf(standing, view).map((fact) => layOut(fact, { width: columns - NAME_WIDTH, paint }));
  const runs = formatRuns(standing.last_runs, { ...view, paint });
  return [head.join('\n'), facts.join('\n'), ...(standing.last_runs.length > 0 ? [runs] : [])].join('\n\n');
}

function layOut({ name, text, tone = 'plain' }: Fact, { width, paint }: { width: number; paint: Paint }): string {
  const lines = wrap(visible(text), width).map((line) => paint(tone, line));
  return name.padEnd(NAME_WIDTH) + lines.join(`\n${' '.repeat(NAME_WIDTH)}`);
}

function factsOf(standing: Standing, view: View): readonly Fact[] {
  const { freshness, held_removals, paused_until, published } = standing;
  const { live_leagues, removed_leagues, open_rejections } = freshness;
  return [
    { name: 'database', text: standing.database },
    ...describeWorker(standing.worker, view),
    { name: 'last good poll', ...describeSuccess(freshness, view) },
    { name: 'failed polls', ...describeFailures(standing) },
    { name: 'leagues', text: `${live_leagues} listed, ${removed_leagues} removed` },
    {
      name: 'held removals',
      ...(held_removals.length === 0 ? NONE : { text: describeHeld(held_removals), tone: 'warning' }),
    },
    {
      name: 'open rejections',
      ...(open_rejections === 0
        ? NONE
        : { text: `${open_rejections}; see the table rejected_leagues`, tone: 'warning' }),
    },
    ...describeExpiry(standing, view),
    { name: 'last login', ...describeLogin(standing, view) },
    ...(paused_until === null ? [] : [describePause(paused_until, view)]),
    ...(published === null ? [] : [describeCopy(published, view)]),
  ];
}

const NONE = { text: 'none' } as const;

type Words = Omit<Fact, 'name'>;

/** That none runs is told at once, below the verdict. */
function describeWorker(worker: LockStatus, view: View): readonly Fact[] {
  if (worker.state === 'none') return [];
  const { state, holder } = worker;
  const name = 'worker';
  if (holder === undefined) return [{ name, text: 'unknown; the lock file beside the database names no process' }];
  const which = `process ${holder.pid} on ${holder.host}, started ${when(holder.since, view)}`;
  if (state === 'running') return [{ name, text: `running: ${which}`, tone: 'good' }];
  return [{ name, text: `said to be ${which}; only that host can tell whether it still runs` }];
}

function describeSuccess({ last_success_at: at, age_seconds: age }: Overview['freshness'], view: View): Words {
  // The database's own reckoning of the age, which is right also where the clock was set back.
  return at === null
    ? { text: 'none yet', tone: 'warning' }
    : { text: withAge(at, formatAge((age ?? 0) * 1_000), view) };
}

function describeFailures({ freshness, last_poll, reasons }: Standing): Words {
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
function describeExpiry(standing: Standing, view: View): readonly Fact[] {
  const { token_expires_at: at, token_clock_skew_ms: skewMs } = standing;
  if (at === null) return [];
  const name = 'token expires';
  const leftMs = Date.parse(at) - view.now - (skewMs ?? 0);
  if (leftMs > 0) return [{ name, text: withAge(at, formatAge(-leftMs), view) }];
  return [{ name, text: withAge(at, `expired ${formatAge(-leftMs)}`, view), tone: 'warning' }];
}

/** Why a login failed is mostly why the poll did that needed it, and then said there. */
function describeLogin({ last_login: login, last_poll, reasons }: Standing, view: View): Words {
  if (login === undefined) return { text: 'none yet' };
  const said = [...reasons.map(({ message }) => message), last_poll?.error_message ?? ''];
  const why = withoutSaid(login.error_message ?? '', said);
  const text = `${when(login.at, view)}, ${login.outcome}${why && `: ${why}`}`;
  return { text, tone: login.outcome === 'ok' ? 'plain' : 'bad' };
}

function describePause(until: string, view: View): Fact {
  return { name: 'pause', text: `ends ${when(until, view)}; the service asked for it`, tone: 'warning' };
}

function describeCopy({ path, at }: PublishedCopy, view: View): Fact {
  const name = 'published copy';
  if (at === null) return { name, text: `none yet at ${path}`, tone: 'warning' };
  return { name, text: `${path}, of ${when(at, view)}` };
}

/** An instant, and how long ago that is. */
function when(at: string, view: View): string {
  return withAge(at, formatAge(view.now - Date.parse(at)), view);
}

/** The age alone at a terminal that has no room for both; its words stay together. */
function withAge(at: string, age: string, { terminal }: View): string {
  const words = age.replaceAll(' ', NO_BREAK);
  return terminal !== undefined && terminal.columns < WIDE_COLUMNS ? words : `${at}${NO_BREAK}(${words})`;
}

const MOST_LISTED = 5;

/** How many, which, and what to do: accepted ones wait for the next poll alone. */
function describeHeld(held: Overview['held_removals']): string {
  const names = held.slice(0, MOST_LISTED).map((row) => row.league_name ?? row.league_id);
  const list = names.join(', ') + (held.length > MOST_LISTED ? ', …' : '');
  const accepted = held.filter((row) => row.accepted_at !== null).length;
  return `${held.length}${accepted > 0 ? ` (${accepted} accepted)` : ''}: ${list}; see league-sync accept-removals`;
}
