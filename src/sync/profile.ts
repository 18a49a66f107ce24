import type { Player } from '../interface.ts';
import { parseProfile } from '../service/profile.ts';
import type { Trigger } from '../store/tables/runs.ts';
import { NO_COUNTS, type RunReport } from './report.ts';
import { Run, type RunTools } from './run.ts';

/** A profile run's report, and the player that it stored if it succeeded. */
export type ProfileReport = { readonly report: RunReport; readonly player?: Player };

/** One poll of the logged-in player's profile (interface, 4.2). Never rejects: the report says how it ended. */
export async function pollProfile(tools: RunTools, trigger: Trigger, stop: AbortSignal): Promise<ProfileReport> {
  const { store, client, drift } = tools;
  using run = new Run(tools, 'profile', trigger, stop);
  try {
    await run.begin();
    const fetched = await run.inTime(client.fetchProfile(run.deadline, run.trace));
    const { player, drift: departures } = parseProfile(fetched.body);
    drift.note(departures);
    const report = await run.finish(fetched, ({ at }) => {
      const result = store.players.upsert(player, at);
      const counts = { ...NO_COUNTS, received: 1, [result]: 1 };
      return { outcome: result === 'unchanged' ? 'unchanged' : 'changed', counts };
    });
    return { report, player };
  } catch (error) {
    return { report: await run.fail(error) };
  }
}
