import { systemClock } from '../clock.ts';
import { loadDatabasePath } from '../config/paths.ts';
import { EXIT } from '../errors.ts';
import { findPackage } from '../package.ts';
import { acceptRemovals as accept, countUnidentified, readHeldRemovals } from '../store/tables/held-removals.ts';
import { countRemovals, formatHeld, mostListed } from './held-table.ts';
import type { Command, Host } from './host.ts';
import { paragraph } from './paragraph.ts';

/** Shows the removals that the guard holds, and lets those shown pass with the next poll where the operator agrees. */
export const acceptRemovals: Command<{ readonly yes?: boolean }> = async (host, { yes }) => {
  const path = loadDatabasePath(host);
  const { migrations } = findPackage();
  const tell = (text: string): Promise<void> => host.print(paragraph(text, host.terminal));
  const all = readHeldRemovals(path, migrations);
  const held = all.filter((removal) => removal.accepted_at === null);
  const when = describeWhen(countUnidentified(path));
  if (all.length > held.length) await tell(`${countRemovals(all.length - held.length)} accepted before: ${when}`);
  if (held.length === 0) {
    if (all.length === 0) await host.print('no removals are held');
    return EXIT.done;
  }
  await host.print(formatHeld(held, { now: systemClock.now(), terminal: host.terminal }));
  if (yes !== true && host.ask === undefined) {
    await tell(`${countRemovals(held.length)} held; league-sync accept-removals --yes accepts them`);
    return EXIT.held;
  }
  if (yes !== true && !(await agree(host, held.length))) {
    await host.print('nothing was accepted');
    return EXIT.held;
  }
  const accepted = await accept(path, held, { migrations, clock: systemClock, stop: host.stop });
  if (accepted > 0) await tell(`${countRemovals(accepted)} accepted: ${when}`);
  if (accepted < held.length)
    await tell(`${countRemovals(held.length - accepted)} no longer held as shown: look again`);
  return EXIT.done;
};

function describeWhen(unidentified: number): string {
  const usual = 'the next poll applies them, unless their leagues are listed again';
  if (unidentified === 0) return usual;
  return `${usual}, but not while the service sends what has no readable league_id (${unidentified} in rejected_leagues)`;
}

/** All that are held are meant, also those that the terminal has no room for. */
async function agree({ ask, terminal }: Host, number: number): Promise<boolean> {
  const hidden = number - Math.min(number, mostListed(terminal));
  const all = hidden > 0 ? `all ${number} leagues, including the ${hidden} not shown,` : `these ${number} leagues`;
  const answer = await ask?.(`Remove ${number === 1 ? 'this league' : all} with the next poll? [y/N] `);
  return /^\s*y(es)?\s*$/i.test(answer ?? '');
}
