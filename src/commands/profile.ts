import { systemClock } from '../clock.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { EXIT } from '../errors.ts';
import type { Log } from '../log.ts';
import { PLAYER_MEMBERS, type Player } from '../player.ts';
import { valueJson } from '../record.ts';
import { pollProfile } from '../sync/profile.ts';
import { describeReport, fieldsOf } from '../sync/report.ts';
import { formatTable } from '../table.ts';
import { openWorkplace } from '../worker/assembly.ts';
import { createCopy } from '../worker/copier.ts';
import { createLoginLog } from '../worker/login-log.ts';
import type { Command, Host } from './host.ts';
import { openQuietLog } from './quiet-log.ts';

/** Logs in, prints the player's profile, stores it. */
export const profile: Command<{ readonly json?: boolean }> = async (host, { json }) => {
  const config = loadConfig(host.settings(), host.environment);
  const log = await openQuietLog(host, config);
  const { report, player } = await pollOnce(config, host, log);
  if (report.error !== undefined) throw report.error;
  host.stop.throwIfAborted();
  if (player !== undefined) await host.print(json === true ? profileJson(player) : profileTable(player));
  return EXIT.done;
};

/** Holds the database no longer than the poll takes, however slowly its result is read. */
async function pollOnce(config: Config, host: Host, log: Log): ReturnType<typeof pollProfile> {
  const { pid, stop: signal } = host;
  const onLogin = createLoginLog(log, systemClock).note;
  const options = { log, pid, signal, firstReason: 'manual', copy: createCopy(host), onLogin } as const;
  await using place = await openWorkplace(config, options);
  const result = await pollProfile(place.tools, 'manual', signal);
  log.info(fieldsOf(result.report), describeReport(result.report));
  place.publisher.noteRun(result.report);
  place.publisher.look();
  return result;
}

function profileJson(player: Player): string {
  return `{${PLAYER_MEMBERS.map((field) => `"${field.name}":${valueJson(field, player[field.name])}`).join(',')}}`;
}

function profileTable(player: Player): string {
  return formatTable(
    ['field', 'value'],
    PLAYER_MEMBERS.map(({ name }) => [name, String(player[name] ?? '')]),
  );
}
