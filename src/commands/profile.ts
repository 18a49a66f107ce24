import { EXIT } from '../errors.ts';
import { membersJson } from '../league/feed-json.ts';
import { PLAYER_MEMBERS, type Player } from '../league/response-schemas.ts';
import { pollProfile } from '../sync/poll.ts';
import type { RunDeps } from '../sync/run.ts';
import { escapeAtTerminal, isPipe, type Terminal } from '../terminal/style.ts';
import { formatRecord, formatTable } from '../terminal/table.ts';
import type { Command } from './command.ts';
import { loadOneShotConfig, pollOnce } from './one-shot.ts';

export const profile: Command<{ readonly json?: boolean }> = async (io, { json = false }) => {
  const poll = (deps: RunDeps) => pollProfile(deps, 'manual', io.stop);
  const { player } = await pollOnce(io, await loadOneShotConfig(io), { command: 'profile', poll });
  if (player !== undefined) await io.print(format(player, json, io.terminal));
  return EXIT.done;
};

function format(player: Player, json: boolean, terminal: Terminal): string {
  if (json) return escapeAtTerminal(membersJson(PLAYER_MEMBERS, player), terminal);
  const rows = PLAYER_MEMBERS.map(({ name }) => [name, String(player[name] ?? '')] as const);
  return isPipe(terminal) ? formatTable(['field', 'value'], rows) : formatRecord(rows, terminal);
}
