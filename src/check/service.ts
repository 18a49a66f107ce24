import { formatInstant, systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { fingerprintOf } from '../config/credentials.ts';
import type { Drift } from '../drift.ts';
import { formatDuration, formatSize } from '../duration.ts';
import { DatabaseError } from '../errors.ts';
import { findPackage } from '../package.ts';
import type { Trace } from '../service/client.ts';
import { parseProfile } from '../service/profile.ts';
import { remainingMs } from '../service/retry-after.ts';
import { hasExpiredOnArrival, type Token } from '../service/token.ts';
import { readLastPause, readSnapshot } from '../store/queries/overview.ts';
import type { Database } from './database.ts';
import { checkLeagues, describePoll } from './leagues.ts';
import { checkWay } from './network.ts';
import { createOneShotClient, type OneShotClient } from './one-shot-client.ts';
import { type CheckResult, explain, fail, failed, hasFailed, ok, skipped, warn } from './result.ts';

export type ServiceOptions = { readonly database: Database; readonly stop: AbortSignal };

/** Both clocks may be a little off, and the service's counts in whole seconds. */
const NOTABLE_SKEW_MS = 60_000;
const TELL_SERVICE = 'ask the operator of the service';
/** How many departures are named; the rest are counted. */
const DEPARTURES_SHOWN = 5;

/** The way to the service, and then what it answers: a login, the profile, the leagues, once each. */
export async function* checkService(config: Config, options: ServiceOptions): AsyncGenerator<CheckResult> {
  const silence = whySilent(config, options.database);
  if (silence !== undefined) {
    yield silence;
    return;
  }
  const way = await checkWay(new URL(config.baseUrl), config.proxy, config.attemptTimeoutMs);
  yield* way;
  if (hasFailed(way)) yield skipped(['login', 'clock', 'profile', 'leagues']);
  else yield* checkAnswers(config, options);
}

async function* checkAnswers(config: Config, { database, stop }: ServiceOptions): AsyncGenerator<CheckResult> {
  const client = createOneShotClient(config, stop);
  const login = await checkLogin(client);
  yield* login;
  if (hasFailed(login)) {
    yield skipped(['clock', 'profile', 'leagues']);
    return;
  }
  yield await checkProfile(client, config);
  const until = client.retryAfter.until();
  if (until > 0) {
    yield describePause(until);
    return;
  }
  const { results, list } = await checkLeagues(client, config);
  yield* results;
  yield describeDrift(client.drift.list());
  if (list === undefined || database.state !== 'readable') return;
  try {
    const { migrations } = findPackage();
    yield readSnapshot(database.place, migrations, (snapshot) => describePoll(snapshot, list, config));
  } catch (error) {
    yield failed('next poll', error, 'look at the line of the database');
  }
}

/** Why nothing may be sent; undefined if it may. What earlier runs were asked for stands in the database. */
function whySilent(config: Config, { place, state }: Database): CheckResult | undefined {
  if (state === 'none') return undefined;
  const unknown = skipped(['the service, since the database cannot say whether it asked for a pause']);
  if (state === 'unknown') return unknown;
  const now = systemClock.now();
  try {
    const leftMs = remainingMs(readLastPause(place, fingerprintOf(config)), now);
    return leftMs > 0 ? describePause(now + leftMs) : undefined;
  } catch (error) {
    if (error instanceof DatabaseError) return unknown;
    throw error;
  }
}

function describePause(until: number): CheckResult {
  const message = `it asked not to be called before ${formatInstant(until)} (Retry-After), so nothing more was sent to it; a worker polls at that time`;
  return warn('service', message, 'check again after that');
}

/** Logs in, and compares the clocks by what the service says of the time. */
async function checkLogin({ logIn }: OneShotClient): Promise<readonly CheckResult[]> {
  const now = systemClock.now();
  try {
    const token = await logIn();
    return [describeLogin(token, now), describeClock(token.clockSkewMs)];
  } catch (error) {
    return [failed('login', error, `${TELL_SERVICE}, and check LEAGUE_SYNC_BASE_URL`)];
  }
}

function describeLogin(token: Token, now: number): CheckResult {
  const { expiresAt, clockSkewMs = 0 } = token;
  const granted = `granted in ${formatDuration(token.tookMs)}`;
  if (expiresAt === undefined) {
    const problem = 'but the service sent no readable expire_datetime, so the token is renewed every 30 min';
    return warn('login', `${granted}, ${problem}`, TELL_SERVICE);
  }
  const expiry = formatInstant(expiresAt);
  if (!hasExpiredOnArrival(token))
    return ok('login', `${granted}; the token expires ${expiry}, in ${formatDuration(expiresAt - now - clockSkewMs)}`);
  const message = `${granted}, but the token has expired already (${expiry}), and is used until it is rejected`;
  return warn('login', message, `check both clocks, and ${TELL_SERVICE}`);
}

function describeClock(skewMs: number | undefined): CheckResult {
  if (skewMs === undefined) return ok('clock', 'cannot be compared: the service does not say what time it has');
  const size = Math.abs(skewMs);
  if (size === 0) return ok('clock', "within a second of the service's");
  const message = `this machine's is ${formatDuration(size)} ${skewMs > 0 ? 'behind' : 'ahead of'} the service's`;
  if (size <= NOTABLE_SKEW_MS) return ok('clock', message);
  const fix = 'set the clock that is wrong, and have it kept right (NTP)';
  return warn('clock', `${message}, which is the one that counts for tokens`, fix);
}

/** Reads the profile. If it is not polled, a failure costs nothing but the command `profile`. */
async function checkProfile({ client, once, drift }: OneShotClient, config: Config): Promise<CheckResult> {
  const trace: Trace = { attempts: 0 };
  try {
    const { body } = await client.fetchProfile(once(), trace);
    drift.note(parseProfile(body).drift);
    return ok('profile', `received, ${formatSize(trace.bodyBytes ?? 0)}`);
  } catch (error) {
    const { message, fix } = explain(error, TELL_SERVICE);
    if (config.profileSchedule === 'off') return warn('profile', `${message}; it is not polled`, fix);
    return fail('profile', message, `${fix}, or set LEAGUE_SYNC_PROFILE_SCHEDULE=off`);
  }
}

/** Where the answers seen so far depart from the interface. */
function describeDrift(departures: readonly Drift[]): CheckResult {
  if (departures.length === 0) return ok('interface', 'the answers hold what the interface names, and nothing else');
  const named = departures.slice(0, DEPARTURES_SHOWN).map(({ field, kind, detail }) => `${field} ${kind} (${detail})`);
  const more = departures.length > DEPARTURES_SHOWN ? ', …' : '';
  const message = `${departures.length} departures from it, and all that can be kept is kept: ${named.join(', ')}${more}`;
  return warn('interface', message, 'tell the operator of the service');
}
