import { systemClock } from '../clock.ts';
import { loadDatabasePath } from '../config/database.ts';
import { EXIT } from '../errors.ts';
import { findPackage } from '../package.ts';
import {
  acceptRemovals as accept,
  countUnidentified,
  type HeldRemoval,
  readHeldRemovals,
} from '../store/acceptance.ts';
import { formatTable } from '../table.ts';
import type { Command } from './host.ts';

/** Shows the removals that the guard holds, and lets those shown pass with the next poll where the operator agrees. */
export const acceptRemovals: Command<{ readonly yes?: boolean }> = async (host, { yes }) => {
  const path = loadDatabasePath(host);
  const all = readHeldRemovals(path);
  const held = all.filter((removal) => removal.accepted_at === null);
  const when = describeWhen(countUnidentified(path));
  if (all.length > held.length) await host.print(`${count(all.length - held.length)} accepted before: ${when}`);
  if (held.length === 0) {
    if (all.length === 0) await host.print('no removals are held');
    return EXIT.done;
  }
  await host.print(formatTable(COLUMNS, held.map(toCells)));
  if (yes !== true && !(await agree(host.ask, held.length))) {
    await host.print(`${count(held.length)} held; league-sync accept-removals --yes accepts them`);
    return EXIT.held;
  }
  const { migrations } = findPackage();
  const accepted = await accept(path, held, { migrations, clock: systemClock, stop: host.stop });
  await host.print(`${count(accepted)} accepted: ${when}`);
  return EXIT.done;
};

function describeWhen(unidentified: number): string {
  const usual = 'the next poll applies them, unless their leagues are listed again';
  if (unidentified === 0) return usual;
  return `${usual}, but not while the service sends what has no readable league_id (${unidentified} in rejected_leagues)`;
}

const COLUMNS = ['league_id', 'league', 'sport', 'held since'];

function toCells({ league_id, league_name, sport, held_since }: HeldRemoval): readonly string[] {
  return [league_id, league_name ?? '', sport ?? '', held_since];
}

/** Where nobody can be asked, nobody agrees. */
async function agree(ask: ((question: string) => Promise<string>) | undefined, number: number): Promise<boolean> {
  if (ask === undefined) return false;
  const answer = await ask(
    `Remove ${number === 1 ? 'this league' : `these ${number} leagues`} with the next poll? [y/N] `,
  );
  return /^\s*y(es)?\s*$/i.test(answer);
}

function count(number: number): string {
  return number === 1 ? '1 removal' : `${number} removals`;
}
