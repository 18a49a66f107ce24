import { SETTINGS } from '../config/settings.ts';
import { EXIT } from '../errors.ts';
import { checkLive, livezUrl } from '../observe/probe-client.ts';
import { paragraph } from '../terminal/paragraph.ts';
import type { Command } from './command.ts';

const TIMEOUT_MS = 5_000;

export const probe: Command<unknown> = async (io) => {
  // If the environment sets the address, `.env` is not read, so that an unreadable `.env` cannot make the probe fail.
  const { LEAGUE_SYNC_LISTEN: set } = io.environment;
  const setting = (set || io.settings().values.LEAGUE_SYNC_LISTEN)?.trim() || SETTINGS.LEAGUE_SYNC_LISTEN.fallback;
  const address = SETTINGS.LEAGUE_SYNC_LISTEN.read(setting, 'LEAGUE_SYNC_LISTEN');
  const say = async (text: string): Promise<void> => io.print(await paragraph(text, io.terminal));
  if (address === 'off' || address.port === 0) {
    await say(`LEAGUE_SYNC_LISTEN is ${setting}, so no worker can be asked; set it to an address with a port`);
    return EXIT.failed;
  }
  const problem = await checkLive(address, TIMEOUT_MS);
  await say(`${livezUrl(address)} ${problem ?? 'is live'}`);
  return problem === undefined ? EXIT.done : EXIT.failed;
};
