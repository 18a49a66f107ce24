import { formatInstant } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Drift } from '../drift.ts';
import { formatDuration, formatSize } from '../duration.ts';
import type { Trace } from '../service/client.ts';
import type { LoginRecord } from '../service/login.ts';
import { parseProfile } from '../service/profile.ts';
import { explain, type Finding, fail, ok, warn } from './finding.ts';
import type { OneShotClient } from './one-shot-client.ts';

/** Both clocks may be a little off, and the service's counts in whole seconds. */
const NOTABLE_SKEW_MS = 60_000;
const TELL_SERVICE = 'ask the operator of the service';
/** How many departures are named; the rest are counted. */
const DEPARTURES_SHOWN = 5;

/** Logs in, and compares the clocks by what the service says of the time. */
export async function lookAtLogin({ logIn }: OneShotClient, now: number): Promise<readonly Finding[]> {
  try {
    const { login, tookMs } = await logIn();
    return [describeLogin(login, { tookMs, now }), describeClock(login?.clockSkewMs)];
  } catch (error) {
    return [fail('login', explain(error, `${TELL_SERVICE}, and check LEAGUE_SYNC_BASE_URL`))];
  }
}

function describeLogin(
  login: LoginRecord | undefined,
  { tookMs, now }: { readonly tookMs: number; readonly now: number },
): Finding {
  const granted = `granted in ${formatDuration(tookMs)}`;
  const { expiresAt, expiredOnArrival, clockSkewMs = 0 } = login ?? {};
  if (expiresAt === undefined) {
    const message = `${granted}, but the service sent no readable expire_datetime, so the token is renewed every 30 min`;
    return warn('login', { message, fix: TELL_SERVICE });
  }
  const expiry = formatInstant(expiresAt);
  if (expiredOnArrival !== true) {
    return ok('login', `${granted}; the token expires ${expiry}, in ${formatDuration(expiresAt - now - clockSkewMs)}`);
  }
  const message = `${granted}, but the token has expired already (${expiry}), and is used until it is rejected`;
  return warn('login', { message, fix: `check both clocks, and ${TELL_SERVICE}` });
}

function describeClock(skewMs: number | undefined): Finding {
  if (skewMs === undefined) return ok('clock', 'cannot be compared: the service does not say what time it has');
  const size = Math.abs(skewMs);
  if (size === 0) return ok('clock', "within a second of the service's");
  const side = skewMs > 0 ? 'behind' : 'ahead of';
  const message = `this machine's is ${formatDuration(size)} ${side} the service's`;
  if (size <= NOTABLE_SKEW_MS) return ok('clock', message);
  return warn('clock', {
    message: `${message}, which is the one that counts for tokens`,
    fix: 'set the clock that is wrong, and have it kept right (NTP)',
  });
}

/** Reads the profile. Where it is not polled, a failure costs nothing but the command `profile`. */
export async function lookAtProfile(visit: OneShotClient, { profileSchedule }: Config): Promise<readonly Finding[]> {
  const trace: Trace = { attempts: 0 };
  try {
    const { body } = await visit.client.fetchProfile(visit.once(), trace);
    visit.drift.note(parseProfile(body).drift);
    return [ok('profile', `received, ${formatSize(trace.bodyBytes ?? 0)}`)];
  } catch (error) {
    const { message, fix } = explain(error, TELL_SERVICE);
    if (profileSchedule === 'off') return [warn('profile', { message: `${message}; it is not polled`, fix })];
    return [fail('profile', { message, fix: `${fix}, or set LEAGUE_SYNC_PROFILE_SCHEDULE=off` })];
  }
}

/** Where the answers seen so far depart from the interface. */
export function describeDrift(departures: readonly Drift[]): Finding {
  if (departures.length === 0) return ok('interface', 'the answers hold what the interface names, and nothing else');
  const named = departures.slice(0, DEPARTURES_SHOWN).map(({ field, kind, detail }) => `${field} ${kind} (${detail})`);
  const more = departures.length > DEPARTURES_SHOWN ? ', …' : '';
  return warn('interface', {
    message: `${departures.length} departures from it, and all that can be kept is kept: ${named.join(', ')}${more}`,
    fix: 'tell the operator of the service',
  });
}
