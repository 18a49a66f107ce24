import { SETTINGS } from '../config/settings.ts';
import { EXIT } from '../errors.ts';
import { askLive, livezOf } from '../observe/probe-client.ts';
import type { Command } from './host.ts';

const LIMIT_MS = 5_000;

/** Asks the running worker whether it turns: for health checks. One line, and exit code 0 or 1. */
export const probe: Command<unknown> = async (host) => {
  // A .env that cannot be read, as a backup that was put back may bring one, says nothing of a worker that turns.
  const { LEAGUE_SYNC_LISTEN: set } = host.environment;
  const setting = (set || host.settings().values.LEAGUE_SYNC_LISTEN)?.trim() || SETTINGS.LEAGUE_SYNC_LISTEN.fallback;
  const address = SETTINGS.LEAGUE_SYNC_LISTEN.read(setting, 'LEAGUE_SYNC_LISTEN');
  if (address === 'off' || address.port === 0) {
    await host.print(`LEAGUE_SYNC_LISTEN is ${setting}, so no worker can be asked; set it to an address with a port`);
    return EXIT.failed;
  }
  const fault = await askLive(address, LIMIT_MS);
  await host.print(`${livezOf(address)} ${fault ?? 'is live'}`);
  return fault === undefined ? EXIT.done : EXIT.failed;
};
