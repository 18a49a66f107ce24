import { formatAge, formatDuration } from '../duration.ts';
import { createPaint, type Paint, type Tone } from '../paint.ts';
import type { Holder } from '../store/lock.ts';
import type { Overview } from '../store/overview.ts';
import type { Presence } from '../store/presence.ts';
import { wrap } from '../table.ts';
import { visible } from '../visible.ts';
import type { Terminal } from './host.ts';
import { formatRuns } from './run-table.ts';

/** Where the published copy is kept, and the instant that it shows; null where there is none yet. */
export type PublishedCopy = { readonly path: string; readonly at: string | null };

/** How things stand with a database: what `status` tells. */
export type Standing = Omit<Overview, 'last_pause'> & {
  readonly database: string;
  readonly worker: Presence;
  /** Until when the service asked to be left alone, where that is not over. */
  readonly paused_until: string | null;
  /** Null where none is wanted. */
  readonly published: PublishedCopy | null;
};

export type View = { readonly now: number; readonly terminal: Terminal | undefined };

type Fact = { readonly name: string; readonly text: string; readonly tone?: Tone };

const NAME_WIDTH = 16;

/** The standing in words: a fact a line, then the last runs. */
export function describeStanding(standing: Standing, view: View): string {
  const { terminal } = view;
  const paint = createPaint(terminal?.color ?? false);
  const width = (terminal?.columns ?? Number.POSITIVE_INFINITY) - NAME_WIDTH;
  const head = factsOf(standing, view).map((fact) => layOut(fact, { width, paint }));
  const runs = formatRuns(standing.last_runs, { ...view, paint });
  return `${head.join('\n')}\n\n${runs}`;
}

function layOut({ name, text, tone = 'plain' }: Fact, { width, paint }: { width: number; paint: Paint }): string {
  const lines = wrap(visible(text), width).map((line) => paint(tone, line));
  return name.padEnd(NAME_WIDTH) + lines.join(`\n${' '.repeat(NAME_WIDTH)}`);
}

function factsOf(standing: Standing, { now }: View): readonly Fact[] {
  const { freshness, last_login, held_removals, paused_until, published } = standing;
  const { consecutive_failures: failures, live_leagues, removed_leagues, open_rejections } = freshness;
  return [
    { name: 'database', text: standing.database },
    { name: 'worker', ...describeWorker(standing.worker, now) },
    { name: 'last good poll', ...describeSuccess(freshness) },
    { name: 'failures since', text: String(failures), tone: failures > 0 ? 'bad' : 'plain' },
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
    { name: 'token expires', ...describeExpiry(standing, now) },
    { name: 'last login', ...describeLogin(last_login, now) },
    ...(paused_until === null ? [] : [describePause(paused_until, now)]),
    ...(published === null ? [] : [describeCopy(published, now)]),
  ];
}

const NONE = { text: 'none' } as const;

type Words = Omit<Fact, 'name'>;

function describeWorker(worker: Presence, now: number): Words {
  if (worker.state === 'none') return { text: 'not running', tone: 'warning' };
  const { holder } = worker;
  if (worker.state === 'running') return { text: `running, ${nameHolder(worker.holder, now)}`, tone: 'good' };
  if (holder === undefined) return { text: 'unknown; the lock file beside the database names nobody' };
  return { text: `said to be ${nameHolder(holder, now)}; whether it still is can only be seen there` };
}

function nameHolder({ pid, host, since }: Holder, now: number): string {
  return `process ${pid} on ${host} since ${aged(since, now)}`;
}

function describeSuccess({ last_success_at: at, age_seconds: age }: Overview['freshness']): Words {
  // The database's own reckoning of the age, which is right also where the clock was set back.
  return at === null ? { text: 'none yet', tone: 'warning' } : { text: `${at} (${formatAge((age ?? 0) * 1_000)})` };
}

/** By the service's clock, which the expiry is told by. */
function describeExpiry({ token_expires_at: at, token_clock_skew_ms: skewMs }: Standing, now: number): Words {
  if (at === null) return { text: 'unknown' };
  const leftMs = Date.parse(at) - now - (skewMs ?? 0);
  if (leftMs > 0) return { text: aged(at, now + (skewMs ?? 0)) };
  return { text: `${at} (expired ${formatDuration(-leftMs)} ago)`, tone: 'warning' };
}

function describeLogin(login: Overview['last_login'], now: number): Words {
  if (login === undefined) return { text: 'none yet' };
  const text = `${aged(login.at, now)} ${login.outcome} ${login.error_message ?? ''}`.trimEnd();
  return { text, tone: login.outcome === 'ok' ? 'plain' : 'bad' };
}

function describePause(until: string, now: number): Fact {
  const text = `until ${aged(until, now)}: the service asked to be left alone`;
  return { name: 'pause', text, tone: 'warning' };
}

function describeCopy({ path, at }: PublishedCopy, now: number): Fact {
  const name = 'published copy';
  if (at === null) return { name, text: `none yet at ${path}`, tone: 'warning' };
  return { name, text: `${path}, of ${aged(at, now)}` };
}

/** An instant, and how long ago that is. */
function aged(at: string, now: number): string {
  return `${at} (${formatAge(now - Date.parse(at))})`;
}

const MOST_LISTED = 5;

/** How many, which, and what to do: accepted ones wait for the next poll alone. */
function describeHeld(held: Overview['held_removals']): string {
  const names = held.slice(0, MOST_LISTED).map((row) => row.league_name ?? row.league_id);
  const list = names.join(', ') + (held.length > MOST_LISTED ? ', …' : '');
  const accepted = held.filter((row) => row.accepted_at !== null).length;
  return `${held.length}${accepted > 0 ? ` (${accepted} accepted)` : ''}: ${list}; see league-sync accept-removals`;
}
