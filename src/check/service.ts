import type { Config } from '../config/config.ts';
import { fingerprintOf } from '../config/credentials.ts';
import { DatabaseError } from '../errors.ts';
import { remainingMs } from '../http/retry-after.ts';
import type { Drift } from '../league/drift.ts';
import type { RequestStats } from '../service/client.ts';
import { describeRejection, type LeagueList, parseLeagues } from '../service/parse-leagues.ts';
import { parseProfile } from '../service/parse-profile.ts';
import { retry } from '../service/retry.ts';
import { openService, type Service } from '../service/service.ts';
import { hasExpiredOnArrival, type Token } from '../service/token-expiry.ts';
import { readLastRetryAfter, readSnapshot, type Snapshot } from '../store/queries/overview.ts';
import { planPoll } from '../sync/plan.ts';
import { describeCounts } from '../sync/report.ts';
import { plural } from '../terminal/text.ts';
import { formatTimestamp, systemClock, timeOfDay } from '../time/clock.ts';
import { formatDuration, formatSize } from '../time/duration.ts';
import type { DatabaseTarget } from './database.ts';
import { checkConnection } from './network.ts';
import { type CheckResult, fail, failure, ok, skipped, toProblem, type Watch, warn } from './result.ts';

/** A smaller skew is normal: the `Date` header has a resolution of one second, and both clocks may be slightly off. */
const NOTABLE_SKEW_MS = 60_000;
const DRIFT_SHOWN = 5;
const REJECTIONS_SHOWN = 3;
const ASK_OPERATOR = 'ask the operator of the service';
const TELL_OPERATOR = 'tell the operator of the service';

export async function* checkService(config: Config, database: DatabaseTarget, watch: Watch) {
  const blocked = findBlock(config, database);
  if (blocked !== undefined) {
    yield blocked;
    return;
  }
  watch.say('connecting to the service');
  const connection = await checkConnection(new URL(config.baseUrl), config.proxy, config.attemptTimeoutMs);
  yield* connection;
  if (connection.some(({ result }) => result === 'fail')) yield skipped('login, clock, profile, leagues');
  else yield* checkResponses(config, database, watch);
}

async function* checkResponses(config: Config, database: DatabaseTarget, { stop, onEvent: emit }: Watch) {
  await using service = openService(config, { firstReason: 'manual', signal: stop, emit });
  const { isGranted, results } = await checkLogin(service);
  yield* results;
  if (!isGranted) {
    yield skipped('clock, profile, leagues');
    return;
  }
  yield await checkProfile(service, config);
  const until = service.retryAfter.until();
  if (until > 0) {
    yield describeRetryAfter(until);
    return;
  }
  const { results: ofLeagues, list } = await checkLeagues(service, config);
  yield* ofLeagues;
  yield describeDrift(service.drift.list());
  if (list !== undefined && database.state === 'outdated')
    yield skipped('the next poll, because the database has an older schema', 'start the worker, which upgrades it');
  if (list === undefined || database.state !== 'readable') return;
  try {
    yield readSnapshot(database.path, (snapshot) => describePoll(snapshot, list, config));
  } catch (error) {
    yield failure('next poll', error, 'see the line "database" above');
  }
}

/** Says why nothing may be sent: a stored Retry-After has not ended or cannot be read. Undefined if neither is true. */
function findBlock(config: Config, { path, state }: DatabaseTarget): CheckResult | undefined {
  if (state === 'none') return undefined;
  const unknown = skipped('the service, because the database may hold a Retry-After that could not be read');
  if (state === 'unknown') return unknown;
  const now = systemClock.now();
  try {
    const leftMs = remainingMs(readLastRetryAfter(path, fingerprintOf(config)), now);
    return leftMs > 0 ? describeRetryAfter(now + leftMs) : undefined;
  } catch (error) {
    if (error instanceof DatabaseError) return unknown;
    throw error;
  }
}

function describeRetryAfter(until: number): CheckResult {
  const message = `it asked not to be called before ${formatTimestamp(until)} (Retry-After), so nothing more was sent; a running worker polls at that time`;
  return warn('service', message, 'wait until then, and check again');
}

async function checkLogin(service: Service) {
  const now = systemClock.now();
  using deadline = service.startDeadline();
  try {
    const token = await retry(() => service.session.token('leagues', deadline), { ...service, deadline });
    return { isGranted: true, results: [describeLogin(token, now), describeClock(token.clockSkewMs)] };
  } catch (error) {
    return { isGranted: false, results: [failure('login', error, ASK_OPERATOR)] };
  }
}

function describeLogin(token: Token, now: number): CheckResult {
  const { expiresAt, clockSkewMs = 0 } = token;
  const granted = `granted in ${formatDuration(token.loginDurationMs)}`;
  if (expiresAt === undefined) {
    const problem = 'but the service sent no readable expire_datetime, so the token is renewed every 30 min';
    return warn('login', `${granted}, ${problem}`, ASK_OPERATOR);
  }
  // By this machine's clock, unlike `expiresAt`.
  const endsAt = expiresAt - clockSkewMs;
  const expiry = timeOfDay(endsAt, now);
  if (!hasExpiredOnArrival(token))
    return ok('login', `${granted}; the token expires in ${formatDuration(endsAt - now)} (${expiry})`);
  const message = `${granted}, but the token has expired already (${expiry}); it is used until it is rejected`;
  return warn('login', message, `check both clocks, and ${ASK_OPERATOR}`);
}

function describeClock(skewMs: number | undefined): CheckResult {
  if (skewMs === undefined) return ok('clock', 'cannot be compared: the service sends no Date header');
  const size = Math.abs(skewMs);
  if (size === 0) return ok('clock', "within a second of the service's");
  const message = `this machine's clock is ${formatDuration(size)} ${skewMs > 0 ? 'behind' : 'ahead of'} the service's`;
  if (size <= NOTABLE_SKEW_MS) return ok('clock', message);
  const fix = 'correct the wrong clock and synchronize it (NTP)';
  return warn('clock', `${message}; tokens expire by the service's clock`, fix);
}

/** If the profile is not polled, only the command `profile` needs it, so a failure is reported as a warning. */
async function checkProfile({ client, startDeadline, drift }: Service, config: Config): Promise<CheckResult> {
  const stats: RequestStats = { attempts: 0 };
  using deadline = startDeadline();
  try {
    const { body } = await client.fetchProfile({ deadline, stats });
    drift.add(parseProfile(body).drift);
    return ok('profile', `received, ${formatSize(stats.bodyBytes ?? 0)}`);
  } catch (error) {
    const { message, fix } = toProblem(error, ASK_OPERATOR);
    if (config.profileSchedule === 'off') return warn('profile', `${message}; it is not polled`, fix);
    return fail('profile', message, `${fix}, or set LEAGUE_SYNC_PROFILE_SCHEDULE=off`);
  }
}

function describeDrift(departures: readonly Drift[]): CheckResult {
  if (departures.length === 0) return ok('interface', 'the responses match the interface');
  const named = departures.slice(0, DRIFT_SHOWN).map(({ field, kind, detail }) => `${field} ${kind} (${detail})`);
  const more = departures.length > DRIFT_SHOWN ? ', …' : '';
  const message = `${plural(departures.length, 'departure')} from the interface; values are kept where possible: ${named.join(', ')}${more}`;
  return warn('interface', message, TELL_OPERATOR);
}

async function checkLeagues({ client, startDeadline, drift }: Service, { scope }: Config) {
  const stats: RequestStats = { attempts: 0 };
  let fix = ASK_OPERATOR;
  using deadline = startDeadline();
  try {
    const fetched = await client.fetchLeagues(scope, { deadline, stats });
    fix = `${TELL_OPERATOR} that polls fail until this is fixed`;
    const list = await parseLeagues(fetched.body, scope);
    drift.add(list.drift);
    const conditional: RequestStats = { attempts: 0 };
    if ((fetched.etag ?? fetched.lastModified) !== undefined)
      await client.fetchLeaguesIfChanged(scope, fetched, { deadline, stats: conditional });
    const results = [describeList(list, stats.bodyBytes ?? 0), ...(conditional.attempts > 1 ? [CONDITIONS_FAIL] : [])];
    return { results, list };
  } catch (error) {
    return { results: [failure('leagues', error, fix)], list: undefined };
  }
}

const CONDITIONS_FAIL = warn(
  'leagues',
  'the service sends ETag or Last-Modified, but a request that sends it back succeeded only when repeated without it, as polls do',
  TELL_OPERATOR,
);

function describeList({ received, rejections, duplicates }: LeagueList, bytes: number): CheckResult {
  const twice = duplicates === 0 ? '' : `, ${duplicates} of them duplicates`;
  const size = `${received} received, ${formatSize(bytes)}${twice}`;
  if (rejections.length === 0) return ok('leagues', size);
  const first = rejections.slice(0, REJECTIONS_SHOWN).map(describeRejection).join('; ');
  const more = rejections.length > REJECTIONS_SHOWN ? ', …' : '';
  const message = `${size}; ${rejections.length} cannot be stored, and their stored rows stay unchanged: ${first}${more}`;
  return warn('leagues', message, TELL_OPERATOR);
}

const FIX_HELD =
  'list the removals with league-sync sync --dry-run; if they are real, accept them with league-sync accept-removals after that poll';
const FIX_UNREADABLE = `${TELL_OPERATOR} that some elements have no readable league_id; removals are held until this is fixed`;

function describePoll(snapshot: Snapshot, list: LeagueList, config: Config): CheckResult {
  const { outcome, counts, heldBecause } = planPoll(snapshot, list, config);
  const message = `would be ${outcome}: ${describeCounts(counts, undefined)}`;
  if (outcome !== 'held') return ok('next poll', message);
  const fix = list.rejections.some(({ leagueId }) => leagueId === null) ? FIX_UNREADABLE : FIX_HELD;
  return warn('next poll', `${message}; held because ${heldBecause}`, fix);
}
