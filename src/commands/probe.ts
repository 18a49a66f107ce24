import { EXIT } from '../errors.ts';
import { checkLive, findAddress, probeUrl } from '../observe/probe-client.ts';
import type { Command } from './command.ts';

const TIMEOUT_MS = 5_000;

export const probe: Command<unknown> = async (io) => {
  // If the environment sets the address, `.env` is not read, so that an unreadable `.env` cannot make the probe fail.
  const setting = io.environment.LEAGUE_SYNC_LISTEN || io.settings().values.LEAGUE_SYNC_LISTEN;
  const address = findAddress(setting);
  if (address === undefined) {
    await io.say(`LEAGUE_SYNC_LISTEN is ${setting}, so no worker can be asked; set it to an address with a port`);
    return EXIT.failed;
  }
  const problem = await checkLive(address, TIMEOUT_MS);
  await io.say(`${probeUrl(address, '/livez')} ${problem ?? 'is live'}`);
  return problem === undefined ? EXIT.done : EXIT.failed;
};
