import type { Config } from '../config/config.ts';
import type { Log } from '../log.ts';
import type { Host } from './host.ts';

/**
 * The log of a command that ends by itself: on stderr, and of warnings alone unless a level is set, since its result on
 * stdout says what it did, and its last line on stderr why it failed.
 */
export async function openQuietLog(host: Host, config: Config): Promise<Log> {
  const isSet = host.settings().values.LEAGUE_SYNC_LOG_LEVEL !== undefined;
  const log = await host.openLog(isSet ? config.log : { ...config.log, level: 'warn' }, 2);
  for (const warning of config.warnings) host.warn(warning);
  return log;
}
