import { type Clock, formatInstant } from '../clock.ts';
import { toRunError } from '../errors.ts';
import { type LoginSummary, type Overview, overviewOf } from '../store/queries/overview.ts';
import { isValid, type Monitor } from './monitor.ts';
import { createReading } from './reading.ts';
import type { Verdict } from './verdict.ts';

/**
 * What `/status.json` says. Fields are only ever added; instants are ISO 8601 in UTC, null where there is none. What the
 * database says is null where it cannot be read, and `database.fault` says why.
 */
export type Status = Verdict & {
  readonly version: string;
  readonly now: string;
  readonly started_at: string;
  readonly service: string;
  readonly scope: string;
  readonly schedule: SlotStatus;
  readonly profile_schedule: SlotStatus | 'off';
  /** The kind of the run that is going on. */
  readonly running: 'leagues' | 'profile' | null;
  /** Until when the service asked to be left alone. */
  readonly paused_until: string | null;
  readonly session: SessionStatus;
  readonly database: { readonly path: string; readonly fault: string | null };
  readonly stored: StoredStatus | null;
};

/** `last_login` is null where there has been none. */
export type StoredStatus = Pick<Overview, 'freshness' | 'last_runs' | 'held_removals'> & {
  readonly last_login: LoginSummary | null;
};

export type SlotStatus = { readonly expression: string; readonly timezone: string; readonly next_at: string };

export type SessionStatus = {
  /** Whether the worker holds a token that has not expired. */
  readonly logged_in: boolean;
  /** By the service's clock. */
  readonly token_expires_at: string | null;
  /** How far that one is ahead of this machine's, as far as the token's login told. */
  readonly clock_skew_ms: number | null;
  /** Why the service refuses the credentials, while it does, and when they are tried again. */
  readonly refused: string | null;
  readonly retry_at: string | null;
};

export function describeStatus(monitor: Monitor, clock: Clock): Status {
  const { settings } = monitor;
  const { running, pausedUntil = 0, token, refusal } = monitor.present() ?? {};
  return {
    ...monitor.verdict(),
    version: settings.version,
    now: formatInstant(clock.now()),
    started_at: formatInstant(monitor.startedAt),
    service: settings.service,
    scope: settings.scope,
    schedule: describeSlots(settings.schedule),
    profile_schedule: settings.profileSchedule === 'off' ? 'off' : describeSlots(settings.profileSchedule),
    running: running ?? null,
    paused_until: instantOf(pausedUntil === 0 ? undefined : pausedUntil),
    session: {
      logged_in: isValid(token),
      token_expires_at: instantOf(token?.expiresAt),
      clock_skew_ms: token?.clockSkewMs ?? null,
      refused: refusal?.message ?? null,
      retry_at: instantOf(refusal?.until),
    },
    ...describeStored(monitor),
  };
}

function describeSlots({ expression, timezone, nextSlot }: Monitor['settings']['schedule']): SlotStatus {
  return { expression, timezone, next_at: formatInstant(nextSlot()) };
}

function describeStored(monitor: Monitor): Pick<Status, 'database' | 'stored'> {
  const path = monitor.path() ?? monitor.settings.database;
  try {
    const { freshness, last_runs, last_login, held_removals } = createReading(monitor)(overviewOf);
    const stored = { freshness, last_runs, last_login: last_login ?? null, held_removals };
    return { database: { path, fault: null }, stored };
  } catch (error) {
    return { database: { path, fault: toRunError(error).message }, stored: null };
  }
}

function instantOf(ms: number | undefined): string | null {
  return ms === undefined ? null : formatInstant(ms);
}
