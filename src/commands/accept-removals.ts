import { EXIT } from '../errors.ts';
import { withReader } from '../store/connection.ts';
import { countUnidentified } from '../store/queries/open-problems.ts';
import { acceptRemovals as accept, type HeldRemoval, readHeldRemovals } from '../store/tables/held-removals.ts';
import { PLAIN, type Terminal } from '../terminal/style.ts';
import { formatTable } from '../terminal/table.ts';
import { plural } from '../terminal/text.ts';
import { systemClock, timeOfDay } from '../time/clock.ts';
import { formatAge } from '../time/duration.ts';
import type { Command, ProcessIO } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';

/** An id, as it usually is, has 36 characters. */
const ID_COLUMNS = 100;

const removals = (count: number): string => plural(count, 'removal');

export const acceptRemovals: Command<DatabaseOption & { readonly yes?: boolean }> = async (
  io,
  { yes = false, ...option },
) => {
  const path = await findDatabase(io, option);
  const all = readHeldRemovals(path);
  const held = all.filter((removal) => removal.accepted_at === null);
  const when = describeWhen(withReader(path, countUnidentified));
  if (all.length > held.length) await io.say(`${removals(all.length - held.length)} accepted earlier: ${when}`);
  if (held.length === 0) {
    if (all.length === 0) await io.print('no removals are held');
    return EXIT.done;
  }
  await io.print(formatHeld(held, io.terminal));
  if (!yes && io.ask === undefined) {
    await io.say(`${removals(held.length)} held; league-sync accept-removals --yes accepts them: ${when}`);
    return EXIT.held;
  }
  if (!yes && !(await confirm(io, held.length))) {
    await io.print('nothing was accepted');
    return EXIT.held;
  }
  // Accepts only the removals read above, since a poll may have changed the held removals in the meantime.
  const accepted = await accept(path, held, { clock: systemClock, stop: io.stop });
  if (accepted > 0) await io.say(`${removals(accepted)} accepted: ${when}`);
  if (accepted < held.length)
    await io.say(`${removals(held.length - accepted)} no longer held as shown; run the command again`);
  return EXIT.done;
};

function describeWhen(unidentified: number): string {
  const usual = 'the next poll applies them, unless their leagues are listed again';
  if (unidentified === 0) return usual;
  return `${usual}, but not while the service sends elements without a readable league_id (${unidentified} in rejected_leagues)`;
}

async function confirm({ ask }: ProcessIO, count: number): Promise<boolean> {
  const question = `Remove ${count === 1 ? 'this league' : `these ${count} leagues`} with the next poll? [y/N] `;
  const answer = await ask?.(question);
  return /^\s*y(es)?\s*$/i.test(answer ?? '');
}

function formatHeld(held: readonly HeldRemoval[], terminal: Terminal | undefined): string {
  const { columns, paint } = terminal ?? PLAIN;
  const since = (at: string): string => (terminal === undefined ? at : formatAge(systemClock.now() - Date.parse(at)));
  const first = held[0]?.held_since ?? '';
  // At a terminal, what all have in common is in the heading.
  const isOneTime = terminal !== undefined && held.every((row) => row.held_since === first);
  const all = [
    ['league', (row: HeldRemoval) => row.league_name ?? ''],
    ['sport', (row: HeldRemoval) => row.sport ?? ''],
    ...(isOneTime ? [] : [['held since', (row: HeldRemoval) => since(row.held_since)] as const]),
    ...(columns < ID_COLUMNS ? [] : [['league_id', (row: HeldRemoval) => row.league_id] as const]),
  ] as const;
  const rows = held.map((row) => all.map(([, read]) => read(row)));
  const table = formatTable(
    all.map(([name]) => name),
    rows,
    terminal,
  );
  const when = isOneTime ? `, since ${timeOfDay(Date.parse(first), systemClock.now())}` : '';
  return [paint('warning', `${removals(held.length)} held${when}`), '', table, ''].join('\n');
}
