import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { fingerprintOf } from '../config/credentials.ts';
import { EXIT } from '../errors.ts';
import { findPackage } from '../package.ts';
import { type LeagueList, parseLeagues } from '../service/leagues.ts';
import { startDeadline } from '../service/retry.ts';
import { remainingMs } from '../service/retry-after.ts';
import { connect, createTransport, openService } from '../service/service.ts';
import { holdsDatabase } from '../store/inspect.ts';
import { readLastPause, readSnapshot } from '../store/queries/overview.ts';
import { planPoll, type Snapshot } from '../sync/plan.ts';
import { describeCounts } from '../sync/report.ts';
import { paragraph } from '../terminal/text.ts';
import type { Host } from './host.ts';
import { formatPlan, listChanges, showPlan } from './plan.ts';

/** What a poll would do now: nothing is written, no run and no login is recorded, no lock is taken. */
export async function dryRun(config: Config, host: Host): Promise<number> {
  const stored = holdsDatabase(config.database);
  const list = await fetchList(config, host.stop, stored);
  const { changes, outcome, summary } = stored
    ? readSnapshot(config.database, findPackage().migrations, (snapshot) => plan(snapshot, list, config))
    : plan(NOTHING_STORED, list, config);
  if (changes.length > 0) await host.print(host.terminal ? showPlan(changes, host.terminal) : formatPlan(changes));
  await host.print(paragraph(`dry run: ${outcome}: ${summary}; nothing was written`, host.terminal));
  return outcome === 'held' ? EXIT.held : EXIT.done;
}

/** What a database that does not exist yet holds. */
const NOTHING_STORED: Snapshot = {
  leagues: {
    index: () => new Map(),
    joinedSince: () => new Set(),
    load: (leagueId) => {
      throw new Error(`There is no league ${leagueId} in a database that does not exist.`);
    },
  },
  holds: { all: () => new Map() },
};

function plan(stored: Snapshot, list: LeagueList, config: Config) {
  const planned = planPoll(stored, list, config);
  const { outcome, counts, heldBecause } = planned;
  const why = heldBecause === undefined ? '' : `; held because ${heldBecause}`;
  const summary = describeCounts(counts, undefined) + why;
  return { changes: listChanges(planned, stored.leagues.load), outcome, summary };
}

async function fetchList(config: Config, stop: AbortSignal, stored: boolean): Promise<LeagueList> {
  const pause = stored ? readLastPause(config.database, fingerprintOf(config)) : undefined;
  const connection = connect(createTransport(config), { retryAfterLeftMs: remainingMs(pause, systemClock.now()) });
  const options = { firstReason: 'manual', signal: stop, onLogin: () => undefined } as const;
  await using service = openService(config, connection, options);
  using deadline = startDeadline(service, config.runTimeoutMs, stop);
  const { body } = await service.client.fetchLeagues(config.scope, deadline, { attempts: 0 });
  return parseLeagues(body, config.scope, deadline.signal);
}
