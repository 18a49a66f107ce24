import type { Player } from '../player.ts';
import { parseProfile } from '../service/profile.ts';
import type { Trigger } from '../store/tables/runs.ts';
import { NO_COUNTS, type RunReport } from './report.ts';
import { executeRun, type RunTools } from './run.ts';

/** A profile run's report, and the player that it stored where it succeeded. */
export type ProfileReport = { readonly report: RunReport; readonly player: Player | undefined };

/** One poll of the logged-in player's profile (interface, 4.2). */
export async function pollProfile(tools: RunTools, trigger: Trigger, stop: AbortSignal): Promise<ProfileReport> {
  let player: Player | undefined;
  const report = await executeRun(tools, 'profile', trigger, stop, async (deadline, trace) => {
    const fetched = await tools.client.fetchProfile(deadline, trace);
    const profile = parseProfile(fetched.body);
    tools.drift.note(profile.drift);
    player = profile.player;
    return {
      fetched,
      apply: ({ at }) => {
        const result = tools.store.players.upsert(profile.player, at);
        const counts = { ...NO_COUNTS, received: 1, [result]: 1 };
        return { outcome: result === 'unchanged' ? 'unchanged' : 'changed', counts };
      },
    };
  });
  return { report, player: report.error === undefined ? player : undefined };
}
