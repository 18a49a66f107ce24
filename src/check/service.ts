import { formatInstant, systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { fingerprintOf } from '../config/credentials.ts';
import { DatabaseError } from '../errors.ts';
import { findPackage } from '../package.ts';
import type { LeagueList } from '../service/leagues.ts';
import { remainingMs } from '../service/retry-after.ts';
import { readLastPause, readSnapshot } from '../store/queries/overview.ts';
import { describeDrift, lookAtLogin, lookAtProfile } from './answer.ts';
import type { FoundDatabase } from './database.ts';
import { explain, type Finding, fail, skipped, warn } from './finding.ts';
import { describePoll, lookAtLeagues } from './leagues.ts';
import { createOneShotClient } from './one-shot-client.ts';
import { lookAtWay } from './way.ts';

export type ServiceOptions = {
  /** Where the database is. */
  readonly place: string;
  readonly state: FoundDatabase['state'];
  readonly stop: AbortSignal;
};

/** The way to the service, and then what it answers: a login, the profile, the leagues, once each. */
export async function* lookAtService(config: Config, options: ServiceOptions): AsyncGenerator<Finding> {
  const now = systemClock.now();
  const silence = whySilent(config, options, now);
  if (silence !== undefined) {
    yield silence;
    return;
  }
  const { proxy, attemptTimeoutMs: timeoutMs } = config;
  const way = await lookAtWay(new URL(config.baseUrl), { proxy, timeoutMs, now });
  yield* way;
  if (hasFailed(way)) yield skipped(['login', 'clock', 'profile', 'leagues']);
  else yield* lookAtAnswers(config, options);
}

async function* lookAtAnswers(config: Config, { place, state, stop }: ServiceOptions): AsyncGenerator<Finding> {
  const visit = createOneShotClient(config, stop);
  const login = await lookAtLogin(visit, systemClock.now());
  yield* login;
  if (hasFailed(login)) {
    yield skipped(['clock', 'profile', 'leagues']);
    return;
  }
  yield* await lookAtProfile(visit, config);
  const until = visit.retryAfter.until();
  if (until > 0) {
    yield describePause(until);
    return;
  }
  const { findings, list } = await lookAtLeagues(visit, config);
  yield* findings;
  yield describeDrift(visit.drift.list());
  if (list !== undefined && state === 'readable') yield lookAtPoll(config, place, list);
}

function hasFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ result }) => result === 'fail');
}

/** Why nothing may be sent; undefined where it may. What earlier runs were asked for stands in the database. */
function whySilent(config: Config, { place, state }: ServiceOptions, now: number): Finding | undefined {
  if (state === 'none') return undefined;
  const unknown = skipped(['the service, since the database cannot say whether it asked for a pause']);
  if (state === 'unknown') return unknown;
  try {
    const leftMs = remainingMs(readLastPause(place, fingerprintOf(config)), now);
    return leftMs > 0 ? describePause(now + leftMs) : undefined;
  } catch (error) {
    if (error instanceof DatabaseError) return unknown;
    throw error;
  }
}

function describePause(until: number): Finding {
  return warn('service', {
    message: `it asked not to be called before ${formatInstant(until)} (Retry-After), so nothing more was sent to it; a worker polls at that time`,
    fix: 'check again after that',
  });
}

function lookAtPoll(config: Config, place: string, list: LeagueList): Finding {
  try {
    return readSnapshot(place, findPackage().migrations, (snapshot) => describePoll(snapshot, list, config));
  } catch (error) {
    return fail('next poll', explain(error, 'look at the line of the database'));
  }
}
