import { loadConfig } from '../config/config.ts';
import { EXIT } from '../errors.ts';
import { PLAYER_MEMBERS, type Player } from '../player.ts';
import { valueJson } from '../record.ts';
import { pollProfile } from '../sync/profile.ts';
import { logReport } from '../sync/report.ts';
import { formatTable } from '../table.ts';
import { openWorkplace } from '../worker/assembly.ts';
import { createCopy } from '../worker/copier.ts';
import type { Command } from './host.ts';

/** Logs in, prints the player's profile, stores it. */
export const profile: Command<{ readonly json?: boolean }> = async (host, { json }) => {
  const config = loadConfig(host.settings(), host.environment);
  const log = await host.openLog(config.log, 2);
  for (const warning of config.warnings) log.warn(warning);
  const { pid, stop: signal } = host;
  const options = { log, pid, signal, firstReason: 'manual', copy: createCopy(host) } as const;
  await using place = await openWorkplace(config, options);
  const { report, player } = await pollProfile(place.tools, 'manual', host.stop);
  logReport(log, report);
  place.publisher.noteRun(report);
  place.publisher.look();
  if (report.error !== undefined) throw report.error;
  host.stop.throwIfAborted();
  if (player !== undefined) await host.print(json === true ? profileJson(player) : profileTable(player));
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
