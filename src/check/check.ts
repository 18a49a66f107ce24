import { hostname } from 'node:os';
import { formatInstant, systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { HeartbeatSource } from '../config/credentials.ts';
import { loadDatabasePath } from '../config/paths.ts';
import { findPackage } from '../package.ts';
import { locateFile, requireOrdinary } from '../store/database-file.ts';
import { type LocalHost, readLockStatus } from '../store/lock.ts';
import { describeLock, type FoundDatabase, lookAtDatabase } from './database.ts';
import { lookAtDisk, lookAtPublishing } from './disk.ts';
import { explain, type Finding, fail, ok, skipped, warn } from './finding.ts';
import { lookAtListening } from './listen.ts';
import { lookAtService } from './service.ts';
import { readSettings, type SettingsSource } from './settings.ts';
import { lookAtWay } from './way.ts';

const SLOTS_SHOWN = 5;
const MINUTE_MS = 60_000;

/**
 * Looks at everything that can go wrong, one thing after the other, and tells of each as soon as it is known. Writes and
 * records nothing, holds no lock, and asks the service once for each thing.
 */
export async function* lookAtAll(
  source: SettingsSource & Pick<LocalHost, 'isAlive'>,
  stop: AbortSignal,
): AsyncGenerator<Finding> {
  const { findings, config, advice } = readSettings(source);
  yield* findings;
  const path = findDatabase(source);
  const database = path === undefined ? undefined : lookAtPlace(path, { host: hostname(), isAlive: source.isAlive });
  if (config !== undefined) yield describeSlots(config);
  yield* database?.findings ?? [];
  if (config === undefined || database === undefined) {
    yield skipped(['the rest, which needs settings that can be used'], advice);
    return;
  }
  yield* lookAtOutlets(config, database);
  yield* lookAtService(config, { place: database.place, state: database.state, stop });
}

/** Undefined where the settings cannot even be read. */
function findDatabase({ settings }: SettingsSource): string | undefined {
  try {
    return loadDatabasePath({ settings, warn: () => undefined });
  } catch {
    return undefined;
  }
}

type Place = FoundDatabase & {
  /** Where the file lies behind all links. */
  readonly place: string;
  /** Whether a worker may be at work on it. */
  readonly isInUse: boolean;
};

/** The database, its lock and its disk. */
function lookAtPlace(path: string, neighbourhood: LocalHost): Place {
  try {
    const place = locateFile(path);
    const { findings, state } = lookAtDatabase(place, findPackage().migrations);
    requireOrdinary(`${place}.lock`);
    const presence = readLockStatus(place, neighbourhood);
    const isInUse = presence.state !== 'none';
    return { place, state, isInUse, findings: [...findings, describeLock(presence), ...lookAtDisk(place)] };
  } catch (error) {
    const fix = 'check LEAGUE_SYNC_DATABASE, and the permissions of its folder';
    return { place: path, state: 'unknown', isInUse: false, findings: [fail('database', explain(error, fix))] };
  }
}

/** Whom the worker serves besides. */
async function* lookAtOutlets(config: Config, { place, state, isInUse }: Place): AsyncGenerator<Finding> {
  const { publish, listen } = config;
  const now = systemClock.now();
  if (publish !== undefined && state === 'unknown') yield skipped(['the published copy, which needs the database']);
  else if (publish !== undefined) yield lookAtPublishing(publish, { path: state === 'none' ? undefined : place, now });
  yield await lookAtListening(listen, isInUse);
  yield* await lookAtHeartbeat(config.heartbeat, config.attemptTimeoutMs);
}

/** The heartbeat is not sent: it would tell somebody that all is well. */
async function lookAtHeartbeat(heartbeat: HeartbeatSource | undefined, timeoutMs: number): Promise<readonly Finding[]> {
  if (heartbeat === undefined) return [];
  const { url, proxy } = heartbeat();
  const way = await lookAtWay(url, { proxy, timeoutMs, now: systemClock.now() });
  const bad = way.find(({ result }) => result === 'fail');
  if (bad === undefined) return [ok('heartbeat', `${url.origin} can be reached; nothing was sent`)];
  const message = `${bad.message}; polls do not depend on it`;
  return [warn('heartbeat', { message, fix: 'check LEAGUE_SYNC_HEARTBEAT_URL, DNS and the network' })];
}

function describeSlots({ schedule, profileSchedule }: Config): Finding {
  // The first one knows of summer time.
  const slots = [...new Set([schedule.nextSlot(), ...schedule.nextSlots(SLOTS_SHOWN)])].sort((a, b) => a - b);
  const next = formatSlots(slots.slice(0, SLOTS_SHOWN), systemClock.now());
  const profile = profileSchedule === 'off' ? 'off' : `"${profileSchedule.expression}"`;
  return ok('polls', `next at ${next} ("${schedule.expression}", ${schedule.timezone}); profile ${profile}`);
}

/** Times of day in UTC; the date is said where it is another than before, and seconds where there are any. */
function formatSlots(slots: readonly number[], now: number): string {
  const hasSeconds = slots.some((slot) => slot % MINUTE_MS !== 0);
  let day = formatInstant(now).slice(0, 10);
  const times = slots.map((slot) => {
    const [date = '', time = ''] = formatInstant(slot).split('T');
    const said = date === day ? '' : `${date} `;
    day = date;
    return said + time.slice(0, hasSeconds ? 8 : 5);
  });
  return `${times.join(', ')} UTC`;
}
