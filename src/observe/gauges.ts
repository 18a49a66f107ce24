import { statSync } from 'node:fs';
import type { Monitor } from './monitor.ts';
import { REASONS, type Verdict } from './verdict.ts';

/** What is looked up whenever somebody asks for the metrics. What is undefined is left out of the answer. */
export type GaugeSource = { readonly name: string; readonly help: string } & (
  | { readonly read: () => number | undefined }
  | { readonly label: string; readonly readAll: () => Readonly<Record<string, number | undefined>> }
);

/** The gauges of the worker, from memory, but for the sizes of its files. */
export function gaugesOf(monitor: Monitor): readonly GaugeSource[] {
  return [...freshnessGauges(monitor), ...leagueGauges(monitor), ...sessionGauges(monitor), ...fileGauges(monitor)];
}

function freshnessGauges(monitor: Monitor): readonly GaugeSource[] {
  const { version, schedule, profileSchedule } = monitor.settings;
  return [
    {
      name: 'league_sync_build_info',
      help: 'Which version this is; always 1.',
      label: 'version',
      readAll: () => ({ [version]: 1 }),
    },
    {
      name: 'league_sync_last_success_timestamp_seconds',
      help: 'When the leagues or the profile were last brought up to date; absent where they never were.',
      label: 'kind',
      readAll: () => ({
        leagues: seconds(monitor.lastSuccessAt('leagues')),
        profile: seconds(monitor.lastSuccessAt('profile')),
      }),
    },
    {
      name: 'league_sync_next_slot_timestamp_seconds',
      help: 'When the schedule has its next slot.',
      label: 'kind',
      readAll: () => ({
        leagues: seconds(schedule.nextSlot()),
        profile: profileSchedule === 'off' ? undefined : seconds(profileSchedule.nextSlot()),
      }),
    },
    {
      name: 'league_sync_not_ready',
      help: 'Whether this reason keeps the worker from being ready (1) or not (0), as /readyz says.',
      label: 'reason',
      readAll: () => reasonsOf(monitor.verdict()),
    },
    {
      name: 'league_sync_consecutive_failures',
      help: 'Polls of the leagues that failed since the last good one.',
      read: () => monitor.consecutiveFailures(),
    },
  ];
}

function leagueGauges(monitor: Monitor): readonly GaugeSource[] {
  return [
    {
      name: 'league_sync_leagues',
      help: 'Leagues in the database: listed by the service (live), or no longer (removed).',
      label: 'state',
      readAll: () => ({ live: monitor.counts()?.live_leagues, removed: monitor.counts()?.removed_leagues }),
    },
    {
      name: 'league_sync_held_removals',
      help: 'Removals that are held; accepted ones count until the next poll applies them.',
      read: () => monitor.counts()?.held_removals,
    },
    {
      name: 'league_sync_rejected_leagues',
      help: 'Different elements of the last list that cannot be stored.',
      read: () => monitor.counts()?.open_rejections,
    },
  ];
}

function sessionGauges(monitor: Monitor): readonly GaugeSource[] {
  return [
    {
      name: 'league_sync_token_expiry_timestamp_seconds',
      help: 'When the token expires, by the clock of the service; absent without a token, or where none is said.',
      read: () => seconds(monitor.present()?.token?.expiresAt),
    },
    {
      name: 'league_sync_clock_skew_seconds',
      help: 'How far the clock of the service was ahead of this one at the last login that told.',
      read: () => seconds(monitor.clockSkewMs()),
    },
  ];
}

function fileGauges(monitor: Monitor): readonly GaugeSource[] {
  return [
    {
      name: 'league_sync_database_bytes',
      help: 'Size of the database file, without the log beside it.',
      read: () => sizeOf(monitor.path()),
    },
    {
      name: 'league_sync_database_wal_bytes',
      help: 'Size of the write-ahead log beside the database.',
      read: () => (monitor.path() === undefined ? undefined : (sizeOf(`${monitor.path()}-wal`) ?? 0)),
    },
  ];
}

/** Each of the reasons, so that the series of none begins only when it is too late to see it change. */
function reasonsOf({ reasons }: Verdict): Readonly<Record<string, number>> {
  const present = new Set(reasons.map(({ reason }) => reason));
  return Object.fromEntries(REASONS.map((reason) => [reason, present.has(reason) ? 1 : 0]));
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}

/** Undefined where there is no such file, or where it cannot be looked at. */
function sizeOf(path: string | undefined): number | undefined {
  if (path === undefined) return undefined;
  try {
    return statSync(path, { throwIfNoEntry: false })?.size;
  } catch {
    return undefined;
  }
}
