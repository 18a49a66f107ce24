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
import type { Command, Host } from './host.ts';

/** Shows the removals that the guard holds, and lets those shown pass with the next poll where the operator agrees. */
export const acceptRemovals: Command<{ readonly yes?: boolean }> = async (host, { yes }) => {
  const path = loadDatabasePath(host);
  const { migrations } = findPackage();
  const all = readHeldRemovals(path, migrations);
  const held = all.filter((removal) => removal.accepted_at === null);
  const when = describeWhen(countUnidentified(path));
  if (all.length > held.length) await host.print(`${count(all.length - held.length)} accepted before: ${when}`);
  if (held.length === 0) {
    if (all.length === 0) await host.print('no removals are held');
    return EXIT.done;
  }
  await host.print(tableOf(held));
  if (yes !== true && host.ask === undefined) {
    await host.print(`${count(held.length)} held; league-sync accept-removals --yes accepts them`);
    return EXIT.held;
  }
  if (yes !== true && !(await agree(host.ask, held.length))) {
    await host.print('nothing was accepted');
    return EXIT.held;
  }
  const accepted = await accept(path, held, { migrations, clock: systemClock, stop: host.stop });
  if (accepted > 0) await host.print(`${count(accepted)} accepted: ${when}`);
  if (accepted < held.length) await host.print(`${count(held.length - accepted)} no longer held as shown: look again`);
  return EXIT.done;
};

function describeWhen(unidentified: number): string {
  const usual = 'the next poll applies them, unless their leagues are listed again';
  if (unidentified === 0) return usual;
  return `${usual}, but not while the service sends what has no readable league_id (${unidentified} in rejected_leagues)`;
}

/** Since when they are held stands once above them where it is one instant, which it mostly is. */
function tableOf(held: readonly HeldRemoval[]): string {
  const instants = new Set(held.map((removal) => removal.held_since));
  const [first = ''] = instants;
  const cells = ({ league_id, league_name, sport }: HeldRemoval) => [league_id, league_name ?? '', sport ?? ''];
  const columns = ['league_id', 'league', 'sport'];
  if (instants.size === 1) return `held since ${first}:\n\n${formatTable(columns, held.map(cells))}\n`;
  const rows = held.map((removal) => [...cells(removal), removal.held_since]);
  return `${formatTable([...columns, 'held since'], rows)}\n`;
}

async function agree(ask: Host['ask'], number: number): Promise<boolean> {
  const answer = await ask?.(
    `Remove ${number === 1 ? 'this league' : `these ${number} leagues`} with the next poll? [y/N] `,
  );
  return /^\s*y(es)?\s*$/i.test(answer ?? '');
}

function count(number: number): string {
  return number === 1 ? '1 removal' : `${number} removals`;
}
