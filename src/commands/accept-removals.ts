import { EXIT } from '../errors.ts';
import { acceptRemovals as accept, type HeldRemoval, readHeldRemovals } from '../store/tables/held-removals.ts';
import { isPipe, type Terminal } from '../terminal/style.ts';
import { formatTable } from '../terminal/table.ts';
import { plural } from '../terminal/text.ts';
import { systemClock, timeOfDay } from '../time/clock.ts';
import type { Command, ProcessIO } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';

const WHEN = 'the next poll applies them, unless their leagues are listed again';
/** An id, as it usually is, has 36 characters. */
const ID_COLUMNS = 100;

const removals = (count: number): string => plural(count, 'removal');

export const acceptRemovals: Command<DatabaseOption & { readonly yes?: boolean }> = async (
  io,
  { yes = false, ...option },
) => {
  const path = findDatabase(io, option);
  const all = readHeldRemovals(path);
  const held = all.filter((removal) => removal.accepted_at === null);
  if (all.length > held.length) await io.say(`${removals(all.length - held.length)} accepted earlier: ${WHEN}`);
  if (held.length === 0) {
    if (all.length === 0) await io.print('no removals are held');
    return EXIT.done;
  }
  await io.print(formatHeld(held, io.terminal));
  if (!yes && io.ask === undefined) {
    await io.say(`${removals(held.length)} held; league-sync accept-removals --yes accepts them: ${WHEN}`);
    return EXIT.held;
  }
  if (!yes && !(await confirm(io, held.length))) {
    await io.print('nothing was accepted');
    return EXIT.held;
  }
  // Accepts only the removals read above, since a poll may have changed the held removals in the meantime.
  const accepted = await accept(path, held, { clock: systemClock, stop: io.stop });
  if (accepted > 0) await io.say(`${removals(accepted)} accepted: ${WHEN}`);
  if (accepted < held.length)
    await io.say(`${removals(held.length - accepted)} no longer held as shown; run the command again`);
  return EXIT.done;
};

async function confirm({ ask }: ProcessIO, count: number): Promise<boolean> {
  const question = `Remove ${count === 1 ? 'this league' : `these ${count} leagues`} with the next poll? [y/N] `;
  const answer = await ask?.(question);
  return /^\s*y(es)?\s*$/i.test(answer ?? '');
}

function formatHeld(held: readonly HeldRemoval[], terminal: Terminal): string {
  const { columns, paint } = terminal;
  const isPlain = isPipe(terminal);
  const shown = (name: string, sport: string, since: string, id: string) => [
    ...[name, sport],
    ...(isPlain ? [since] : []),
    ...(columns < ID_COLUMNS ? [] : [id]),
  ];
  const rows = held.map((row) => shown(row.league_name ?? '', row.sport ?? '', row.held_since, row.league_id));
  const table = formatTable(shown('league', 'sport', 'held since', 'league_id'), rows, terminal);
  const [first = '', ...later] = [...new Set(held.map((row) => row.held_since))].sort();
  // Once for all at a terminal, since most are held by one poll.
  const since = `${later.length > 0 ? ', the first' : ','} since ${timeOfDay(Date.parse(first), systemClock.now())}`;
  const when = isPlain ? '' : since;
  return [paint('warning', `${removals(held.length)} held${when}`), '', table, ''].join('\n');
}
