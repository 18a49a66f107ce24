import { EXIT } from '../errors.ts';
import { membersJson } from '../league/league-json.ts';
import { PLAYER_MEMBERS, type Player } from '../league/schemas.ts';
import { pollProfile } from '../sync/poll.ts';
import type { RunDeps } from '../sync/run.ts';
import { escapeAtTerminal } from '../terminal/style.ts';
import { formatRecord, formatTable } from '../terminal/table.ts';
import type { Command } from './command.ts';
import { loadOneShotConfig, pollOnce } from './one-shot.ts';

export const profile: Command<{ readonly json?: boolean }> = async (io, { json }) => {
  const poll = (deps: RunDeps) => pollProfile(deps, 'manual', io.stop);
  const format = (player: Player) => {
    if (json === true) return escapeAtTerminal(membersJson(PLAYER_MEMBERS, player), io.terminal);
    const rows = PLAYER_MEMBERS.map(({ name }) => [name, String(player[name] ?? '')] as const);
    return io.terminal === undefined ? formatTable(['field', 'value'], rows) : formatRecord(rows, io.terminal);
  };
  const show = async ({ player }: { readonly player: Player | undefined }) => {
    if (player !== undefined) await io.print(format(player));
    return EXIT.done;
  };
  return pollOnce(io, await loadOneShotConfig(io), { command: 'profile', poll, show });
};
