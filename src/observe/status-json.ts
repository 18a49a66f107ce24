import { toRunError } from '../errors.ts';
import { type OutputStatus, selectLast } from '../store/queries/overview.ts';
import type { OutputName } from '../store/tables/outputs.ts';
import { formatTimestamp } from '../time/clock.ts';
import type { Monitor, State } from './worker-state.ts';

/** The body of `/status.json`. Either `database.fault` is null, or both `stored` and `attention` are. */
export function describeStatus({ state: readState, provenance, read }: Monitor) {
  const state = readState();
  const { settings, token, failure } = state;
  const { baseUrl, scope, schedule, profileSchedule } = settings;
  return {
    ...state.verdict,
    version: state.version,
    now: formatTimestamp(state.now),
    started_at: formatTimestamp(state.startedAt),
    ...provenance(),
    service: baseUrl,
    scope,
    schedule: describeSchedule(schedule, state.now),
    profile_schedule: profileSchedule === 'off' ? profileSchedule : describeSchedule(profileSchedule, state.now),
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

function describeSchedule({ expression, timezone, nextTime }: State['settings']['schedule'], now: number) {
  return { expression, timezone, next_at: formatTimestamp(nextTime(now)) };
}

function describeStored({ attention, freshness, outputs, ...state }: State, read: Monitor['read']) {
  const path = state.path ?? state.settings.database;
  const broken = (fault: string) => ({ attention: null, mirror: null, database: { path, fault }, stored: null });
  if (state.readFault !== undefined) return broken(state.readFault);
  try {
    const { last_runs, last_login = null, held_removals } = read(selectLast);
    const { mirror, ...others } = outputsJson(outputs);
    return {
      attention,
      mirror,
      database: { path, fault: null },
      stored: { freshness, last_runs, last_login, held_removals, ...others },
    };
  } catch (error) {
    return broken(toRunError(error).message);
  }
}

function timestampOf(ms: number | undefined): string | null {
  return ms === undefined ? null : formatTimestamp(ms);
}

/** The outputs as members of a JSON object; null for one that is not set. */
export function outputsJson(outputs: readonly OutputStatus[]) {
  const find = (name: OutputName) => outputs.find((output) => output.name === name);
  const [webhook, mirror, copy] = [find('webhook'), find('mirror'), find('copy')];
  return {
    outputs,
    webhook: webhook
      ? { ...webhook, host: webhook.label, accepted_seq: webhook.seq, accepted_at: webhook.done_at }
      : null,
    mirror: mirror ? { ...mirror, mirrored_at: mirror.done_at, lag_changes: mirror.pending_changes } : null,
    published: copy ? { ...copy, path: copy.label, at: copy.done_at } : null,
  };
}
