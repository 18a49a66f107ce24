import { toRunError } from '../errors.ts';
import { outputsJson } from '../store/queries/outputs.ts';
import { selectOverview } from '../store/queries/overview.ts';
import { formatTimestamp } from '../time/clock.ts';
import type { Monitor, State } from './monitor.ts';

/**
 * The body of `/status.json`. Later versions only add fields. Either `database.fault` is null, or both `stored` and
 * `attention` are.
 */
export function describeStatus({ state: readState, read }: Monitor) {
  const state = readState();
  const { settings, token, failure } = state;
  const { baseUrl, scope, schedule, profileSchedule } = settings;
  return {
    ...state.verdict,
    version: state.version,
    now: formatTimestamp(state.now),
    started_at: formatTimestamp(state.startedAt),
    service: baseUrl,
    scope,
    schedule: describeSchedule(schedule),
    profile_schedule: profileSchedule === 'off' ? profileSchedule : describeSchedule(profileSchedule),
    running: state.running ?? null,
    paused_until: timestampOf(state.pausedUntil || undefined),
    session: {
      logged_in: token?.isValid === true,
      // By the service's clock; the other timestamps are by this machine's clock.
      token_expires_at: timestampOf(token?.expiresAt),
      // Positive if the service's clock is ahead.
      clock_skew_ms: token?.clockSkewMs ?? null,
      refused: failure?.error.kind === 'credentials' ? failure.error.message : null,
      retry_at: timestampOf(failure?.until),
    },
    ...describeStored(state, read),
  };
}

function describeSchedule({ expression, timezone, nextTime }: State['settings']['schedule']) {
  return { expression, timezone, next_at: formatTimestamp(nextTime()) };
}

function describeStored({ path: opened, settings }: State, read: Monitor['read']) {
  const path = opened ?? settings.database;
  try {
    const { attention, freshness, last_runs, last_login = null, held_removals, outputs } = read(selectOverview);
    const { mirror, ...others } = outputsJson(outputs);
    return {
      attention,
      mirror,
      database: { path, fault: null },
      stored: { freshness, last_runs, last_login, held_removals, ...others },
    };
  } catch (error) {
    return { attention: null, mirror: null, database: { path, fault: toRunError(error).message }, stored: null };
  }
}

function timestampOf(ms: number | undefined): string | null {
  return ms === undefined ? null : formatTimestamp(ms);
}
