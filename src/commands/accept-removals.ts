import { systemClock } from '../clock.ts';
import { loadDatabasePath } from '../config/paths.ts';
import { formatAge, formatDuration } from '../duration.ts';
import { EXIT } from '../errors.ts';
import { findPackage } from '../package.ts';
import {
  acceptRemovals as accept,
  countUnidentified,
  type HeldRemoval,
  readHeldRemovals,
} from '../store/tables/held-removals.ts';
import { PLAIN, type Terminal, visible } from '../terminal/style.ts';
import { formatTable } from '../terminal/table.ts';
import { cut, NO_BREAK, paragraph, plural, wrap } from '../terminal/text.ts';
import type { Command, Host } from './host.ts';

/** How many are listed at a terminal. */
const MOST_LISTED = 20;
/** Sports that are counted by name, and how much of it is shown. */
const MOST_SPORTS = 6;
const LONGEST_SPORT = 24;

/** Shows the removals that the guard holds, and lets those shown pass with the next poll if the operator agrees. */
export const acceptRemovals: Command<{ readonly yes?: boolean }> = async (host, { yes }) => {
  const path = loadDatabasePath(host);
  const { migrations } = findPackage();
  const tell = (text: string): Promise<void> => host.print(paragraph(text, host.terminal));
  const all = readHeldRemovals(path, migrations);
  const held = all.filter((removal) => removal.accepted_at === null);
  const when = describeWhen(countUnidentified(path));
  if (all.length > held.length) await tell(`${removals(all.length - held.length)} accepted before: ${when}`);
  if (held.length === 0) {
    if (all.length === 0) await host.print('no removals are held');
    return EXIT.done;
  }
  await host.print(formatHeld(held, host.terminal));
  if (yes !== true && host.ask === undefined) {
    await tell(`${removals(held.length)} held; league-sync accept-removals --yes accepts them`);
    return EXIT.held;
  }
  if (yes !== true && !(await agree(host, held.length))) {
    await host.print('nothing was accepted');
    return EXIT.held;
  }
  const accepted = await accept(path, held, { migrations, clock: systemClock, stop: host.stop });
  if (accepted > 0) await tell(`${removals(accepted)} accepted: ${when}`);
  if (accepted < held.length) await tell(`${removals(held.length - accepted)} no longer held as shown: look again`);
  return EXIT.done;
};

function removals(count: number): string {
  return plural(count, 'removal');
}

function describeWhen(unidentified: number): string {
  const usual = 'the next poll applies them, unless their leagues are listed again';
  if (unidentified === 0) return usual;
  return `${usual}, but not while the service sends what has no readable league_id (${unidentified} in rejected_leagues)`;
}

/** All that are held are meant, also those that the terminal has no room for. */
async function agree({ ask, terminal }: Host, count: number): Promise<boolean> {
  const hidden = terminal === undefined ? 0 : Math.max(0, count - MOST_LISTED);
  const all = hidden > 0 ? `all ${count} leagues, including the ${hidden} not shown,` : `these ${count} leagues`;
  const answer = await ask?.(`Remove ${count === 1 ? 'this league' : all} with the next poll? [y/N] `);
  return /^\s*y(es)?\s*$/i.test(answer ?? '');
}

/** Held removals as a person decides on them: how many, of which sports, since when, and which. A pipe gets all. */
function formatHeld(held: readonly HeldRemoval[], terminal: Terminal | undefined): string {
  const { columns, paint } = terminal ?? PLAIN;
  const head = `${removals(held.length)} held${describeSince(held, terminal)}: ${countSports(held)}`;
  const listed = terminal === undefined ? held : held.slice(0, MOST_LISTED);
  const rest = held.length - listed.length;
  const more = rest === 0 ? [] : wrap(`… and ${rest} more; league-sync accept-removals | cat lists all`, columns);
  const headLines = wrap(visible(head), columns).map((line) => paint('warning', line));
  return [...headLines, '', tableOf(listed, terminal), ...more, ''].join('\n');
}

/** Once for all if it is one time, which it mostly is. */
function describeSince(held: readonly HeldRemoval[], terminal: Terminal | undefined): string {
  const since = held[0]?.held_since ?? '';
  const ageMs = Math.max(0, systemClock.now() - Date.parse(since));
  const words = terminal === undefined ? `since ${since}` : `for ${formatDuration(ageMs)}`;
  return hasOneTime(held) ? ` ${words}` : `, the first ${words}`;
}

function hasOneTime(held: readonly HeldRemoval[]): boolean {
  return held.every(({ held_since }) => held_since === held[0]?.held_since);
}

function countSports(held: readonly HeldRemoval[]): string {
  const bySport = Map.groupBy(held, ({ sport }) => sport ?? 'unknown');
  const sorted = [...bySport].toSorted(([, some], [, others]) => others.length - some.length);
  const named = sorted
    .slice(0, MOST_SPORTS)
    .map(([sport, some]) => `${some.length}${NO_BREAK}${cut(sport, LONGEST_SPORT)}`);
  const rest = sorted.slice(MOST_SPORTS).reduce((sum, [, some]) => sum + some.length, 0);
  return [...named, ...(rest > 0 ? [`${rest} of other sports`] : [])].join(', ');
}

/** The id comes last, and gives way first. */
function tableOf(held: readonly HeldRemoval[], terminal: Terminal | undefined): string {
  const age = (at: string): string => (terminal === undefined ? at : formatAge(systemClock.now() - Date.parse(at)));
  const isOnce = hasOneTime(held);
  const columns = ['league', 'sport', ...(isOnce ? [] : ['held since']), 'league_id'];
  const rows = held.map(({ league_name, sport, held_since, league_id }) => [
    league_name ?? '',
    sport ?? '',
    ...(isOnce ? [] : [age(held_since)]),
    league_id,
  ]);
  return formatTable(columns, rows, terminal, columns.length - 1);
}
