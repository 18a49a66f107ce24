import { loadConfig } from '../config/config.ts';
import { EXIT } from '../errors.ts';
import { PLAYER_MEMBERS, type Player } from '../interface.ts';
import { valueJson } from '../league.ts';
import { pollProfile } from '../sync/profile.ts';
import type { RunTools } from '../sync/run.ts';
import { formatTable } from '../terminal/table.ts';
import type { Command } from './host.ts';
import { pollOnce } from './once.ts';
import { openQuietLog } from './quiet-log.ts';

/** Logs in, prints the player's profile, stores it. */
export const profile: Command<{ readonly json?: boolean }> = async (host, { json }) => {
  const config = loadConfig(host.settings(), host.environment);
  const log = await openQuietLog(host, config);
  const poll = (tools: RunTools) => pollProfile(tools, 'manual', host.stop);
  const { report, player, warnOfCopy } = await pollOnce(config, { host, log }, poll);
  if (report.error !== undefined) throw report.error;
  host.stop.throwIfAborted();
  if (player !== undefined) await host.print(json === true ? profileJson(player) : profileTable(player));
  warnOfCopy();
  return EXIT.done;
};

function profileJson(player: Player): string {
  return `{${PLAYER_MEMBERS.map((field) => `"${field.name}":${valueJson(field, player[field.name])}`).join(',')}}`;
}

function profileTable(player: Player): string {
  return formatTable(
    ['field', 'value'],
    PLAYER_MEMBERS.map(({ name }) => [name, String(player[name] ?? '')]),
  );
}
