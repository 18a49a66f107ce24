import { formatAge, formatDuration } from '../duration.ts';
import type { HeldRemoval } from '../store/tables/held-removals.ts';
import { createPaint, visible } from '../terminal/style.ts';
import { cut, formatTable, NO_BREAK, wrap } from '../terminal/table.ts';
import type { Terminal } from './host.ts';

/** How many are listed at a terminal. */
const MOST_LISTED = 20;
/** Sports that are counted by name, and how much of it is shown. */
const MOST_SPORTS = 6;
const LONGEST_SPORT = 24;

export type HeldView = { readonly now: number; readonly terminal: Terminal | undefined };

/** Held removals as a person decides on them: how many, of which sports, since when, and which. A pipe gets all. */
export function formatHeld(held: readonly HeldRemoval[], { now, terminal }: HeldView): string {
  const { columns: width = Number.POSITIVE_INFINITY, color = false } = terminal ?? {};
  const paint = createPaint(color);
  const since = (at: string): string =>
    terminal === undefined ? `since ${at}` : `for ${formatDuration(Math.max(0, now - Date.parse(at)))}`;
  const head = `${countRemovals(held.length)} held${describeSince(held, since)}: ${countSports(held)}`;
  const listed = held.slice(0, mostListed(terminal));
  const rest = held.length - listed.length;
  const more = rest === 0 ? [] : wrap(`… and ${rest} more; league-sync accept-removals | cat lists all`, width);
  const headLines = wrap(visible(head), width).map((line) => paint('warning', line));
  return [...headLines, '', tableOf(listed, { now, terminal }), ...more, ''].join('\n');
}

/** How many of the held removals a reader is shown. */
export function mostListed(terminal: Terminal | undefined): number {
  return terminal === undefined ? Number.POSITIVE_INFINITY : MOST_LISTED;
}

export function countRemovals(number: number): string {
  return number === 1 ? '1 removal' : `${number} removals`;
}

/** Once for all where it is one instant, which it mostly is. */
function describeSince(held: readonly HeldRemoval[], since: (at: string) => string): string {
  const [first] = held;
  if (first === undefined) return '';
  return isOfOneInstant(held) ? ` ${since(first.held_since)}` : `, the first ${since(first.held_since)}`;
}

function isOfOneInstant(held: readonly HeldRemoval[]): boolean {
  return new Set(held.map((removal) => removal.held_since)).size === 1;
}

function countSports(held: readonly HeldRemoval[]): string {
  const counts = new Map<string, number>();
  for (const { sport } of held) counts.set(sport ?? 'unknown', (counts.get(sport ?? 'unknown') ?? 0) + 1);
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
  const named = sorted
    .slice(0, MOST_SPORTS)
    .map(([sport, number]) => `${number}${NO_BREAK}${cut(sport, LONGEST_SPORT)}`);
  const rest = sorted.slice(MOST_SPORTS).reduce((sum, [, number]) => sum + number, 0);
  return [...named, ...(rest > 0 ? [`${rest} of other sports`] : [])].join(', ');
}

/** The id comes last, and gives way first. */
function tableOf(held: readonly HeldRemoval[], { now, terminal }: HeldView): string {
  const age = (at: string): string => (terminal === undefined ? at : formatAge(now - Date.parse(at)));
  const isOnce = isOfOneInstant(held);
  const columns = ['league', 'sport', ...(isOnce ? [] : ['held since']), 'league_id'];
  const rows = held.map(({ league_name, sport, held_since, league_id }) => [
    league_name ?? '',
    sport ?? '',
    ...(isOnce ? [] : [age(held_since)]),
    league_id,
  ]);
  const paint = createPaint(terminal?.color ?? false);
  return formatTable(columns, rows, { width: terminal?.columns, paint, cutFirst: columns.length - 1 });
}
