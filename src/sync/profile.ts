import type { Player } from '../player.ts';
import { parseProfile } from '../service/profile.ts';
import type { Trigger } from '../store/runs.ts';
import { executeRun, type RunReport, type RunTools } from './run.ts';

/** One poll of the logged-in player's profile (interface, 4.2). `onStored` is told who was stored. */
export function pollProfile(
  tools: RunTools,
  trigger: Trigger,
  stop: AbortSignal,
  onStored: (player: Player) => void = () => undefined,
): Promise<RunReport> {
  return executeRun(tools, 'profile', trigger, stop, async (deadline, trace) => {
    const fetched = await tools.client.fetchProfile(deadline, trace);
    const { player, drift } = parseProfile(fetched.body);
    tools.drift.note(...drift);
    return {
      fetched,
      apply: ({ at }) => {
        const result = tools.store.players.upsert(player, at);
        onStored(player);
        return { outcome: result === 'unchanged' ? 'unchanged' : 'changed', counts: { received: 1, [result]: 1 } };
      },
    };
  });
}
