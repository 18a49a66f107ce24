import { loadDatabasePath } from '../config/database.ts';
import { formatDuration } from '../duration.ts';
import { EXIT } from '../errors.ts';
import { type Overview, type RunSummary, readOverview } from '../store/overview.ts';
import { describeCounts } from '../sync/report.ts';
import { formatTable } from '../table.ts';
import { visible } from '../visible.ts';
import type { Command } from './host.ts';

/** What the database says of itself. Exits 0 however stale it is. */
export const status: Command<{ readonly json?: boolean }> = async (host, { json }) => {
  const path = loadDatabasePath(host);
  const overview = readOverview(path);
  await host.print(json === true ? JSON.stringify({ database: path, ...overview }) : describe(path, overview));
  return EXIT.done;
};

function describe(
  path: string,
  { freshness, token_expires_at, last_login, held_removals, last_runs }: Overview,
): string {
  const { last_success_at, age_seconds, consecutive_failures, live_leagues, removed_leagues, open_rejections } =
    freshness;
  const age = age_seconds === null ? '' : `, ${describeAge(age_seconds)}`;
  const facts = [
    ['database', path],
    ['last good poll', last_success_at === null ? 'none yet' : `${last_success_at}${age}`],
    ['failures since', String(consecutive_failures)],
    ['leagues', `${live_leagues} listed, ${removed_leagues} removed`],
    ['held removals', held_removals.length === 0 ? 'none' : describeHeld(held_removals)],
    ['open rejections', open_rejections === 0 ? 'none' : `${open_rejections}; see the table rejected_leagues`],
    ['token expires', token_expires_at ?? 'unknown'],
    [
      'last login',
      last_login === undefined
        ? 'none yet'
        : [last_login.at, last_login.outcome, last_login.error_message ?? ''].join(' ').trim(),
    ],
  ];
  const head = facts.map(([name = '', fact = '']) => `${name.padEnd(16)}${visible(fact)}`).join('\n');
  return `${head}\n\n${formatTable(['run', 'kind', 'trigger', 'started', 'outcome', 'what'], last_runs.map(runRow))}`;
}

function describeAge(seconds: number): string {
  return seconds === 0 ? 'just now' : `${formatDuration(seconds * 1_000)} ago`;
}

const MOST_LISTED = 5;

/** How many, which, and what to do: accepted ones wait for the next poll alone. */
function describeHeld(held: Overview['held_removals']): string {
  const names = held.slice(0, MOST_LISTED).map((row) => row.league_name ?? row.league_id);
  const list = names.join(', ') + (held.length > MOST_LISTED ? ', …' : '');
  const accepted = held.filter((row) => row.accepted_at !== null).length;
  return `${held.length}${accepted > 0 ? ` (${accepted} accepted)` : ''}: ${list}; see league-sync accept-removals`;
}

function runRow(run: RunSummary): readonly string[] {
  const good = run.outcome === 'changed' || run.outcome === 'unchanged' || run.outcome === 'held';
  const what = good && run.kind === 'leagues' ? describeCounts(run, run.http_status) : '';
  return [String(run.id), run.kind, run.trigger, run.started_at, run.outcome, run.error_message ?? what];
}
