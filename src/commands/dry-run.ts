import { statSync } from 'node:fs';
import { formatInstant } from '../clock.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { EXIT } from '../errors.ts';
import { type LeagueList, parseLeagues } from '../service/league.ts';
import { startDeadline } from '../service/retry.ts';
import { openSnapshot, type Snapshot } from '../store/snapshot.ts';
import { countPlan, planPoll, type Readable } from '../sync/leagues.ts';
import { describePlan } from '../sync/plan-text.ts';
import { visible } from '../table.ts';
import { assembleService, fingerprintOf } from '../worker/assembly.ts';
import type { Command } from './host.ts';

/** What a poll would do now: nothing is written, no run and no login is recorded, no lock is taken. */
export const dryRun: Command<unknown> = async (host) => {
  const config = loadConfig(host.settings());
  const log = await host.openLog(config.log, 2);
  for (const warning of config.warnings) log.warn(warning);
  using snapshot = hasContent(config.database) ? openSnapshot(config.database) : undefined;
  const list = await fetchList(config, host.stop, snapshot);
  const stored = snapshot ?? NOTHING_STORED;
  const plan = planPoll(stored, list, config);
  const { outcome, counts } = countPlan(plan, list);
  for (const line of describePlan(plan, stored.leagues.load)) host.print(visible(line));
  host.print(`${outcome}: ${counts.received ?? 0} leagues received; dry run, nothing was written`);
  return outcome === 'held' ? EXIT.held : EXIT.done;
};

/** What a database that does not exist yet holds. */
const NOTHING_STORED: Readable = {
  leagues: {
    index: () => new Map(),
    load: (leagueId) => {
      throw new Error(`There is no league ${leagueId} in a database that does not exist.`);
    },
  },
  oddities: { holds: () => new Map() },
};

function hasContent(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

async function fetchList(config: Config, stop: AbortSignal, snapshot: Snapshot | undefined): Promise<LeagueList> {
  const pausedUntil = Date.parse(snapshot?.runs.lastNotBefore(fingerprintOf(config)) ?? formatInstant(0));
  const record = (): void => undefined;
  await using service = assembleService(config, { firstReason: 'manual', signal: stop, pausedUntil, record });
  using deadline = startDeadline(service, config.runTimeoutMs, stop);
  const fetched = await service.client.fetchLeagues(config.scope, deadline, { attempts: 0 });
  return parseLeagues(fetched.body, config.scope === 'all' ? undefined : config.scope);
}
