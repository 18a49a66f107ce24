import { hostname } from 'node:os';
import { formatInstant, systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { loadDatabasePath } from '../config/database.ts';
import type { Environment } from '../config/environment.ts';
import { chooseProxy } from '../config/proxy.ts';
import { findPackage } from '../package.ts';
import { locateFile, requireOrdinary } from '../store/folder.ts';
import { type Neighbourhood, readPresence } from '../store/presence.ts';
import { describeLock, type FoundDatabase, lookAtDatabase } from './database.ts';
import { lookAtDisk, lookAtPublishing } from './disk.ts';
import { explain, type Finding, fail, ok, skipped, warn } from './finding.ts';
import { lookAtListening } from './listen.ts';
import { lookAtService } from './service.ts';
import { readSettings, type SettingsSource } from './settings.ts';
import { lookAtWay } from './way.ts';

const SLOTS_SHOWN = 5;

/**
 * Looks at everything that can go wrong, one thing after the other, and tells of each as soon as it is known. Writes and
 * records nothing, holds no lock, and asks the service once for each thing.
 */
export async function* lookAtAll(
  source: SettingsSource & Pick<Neighbourhood, 'isAlive'>,
  stop: AbortSignal,
): AsyncGenerator<Finding> {
  const { findings, config } = readSettings(source);
  yield* findings;
  const path = findDatabase(source);
  const database = path === undefined ? undefined : lookAtPlace(path, { host: hostname(), isAlive: source.isAlive });
  if (config !== undefined) yield describeSlots(config);
  yield* database?.findings ?? [];
  if (config === undefined || database === undefined) {
    yield skipped(['the rest, which needs settings that can be used']);
    return;
  }
  yield* lookAtOutlets(config, source.environment, database);
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
function lookAtPlace(path: string, neighbourhood: Neighbourhood): Place {
  try {
    const place = locateFile(path);
    const { findings, state } = lookAtDatabase(place, findPackage().migrations);
    requireOrdinary(`${place}.lock`);
    const presence = readPresence(place, neighbourhood);
    const isInUse = presence.state !== 'none';
    return { place, state, isInUse, findings: [...findings, describeLock(presence), ...lookAtDisk(place)] };
  } catch (error) {
    const mend = 'check LEAGUE_SYNC_DATABASE, and the permissions of its folder';
    return { place: path, state: 'unknown', isInUse: false, findings: [fail('database', explain(error, mend))] };
  }
}

/** Whom the worker serves besides. */
async function* lookAtOutlets(
  config: Config,
  environment: Environment,
  { place, state, isInUse }: Place,
): AsyncGenerator<Finding> {
  const { publish, listen } = config;
  const now = systemClock.now();
  if (publish !== undefined && state === 'unknown') yield skipped(['the published copy, which needs the database']);
  else if (publish !== undefined) yield lookAtPublishing(publish, { path: state === 'none' ? undefined : place, now });
  yield await lookAtListening(listen, isInUse);
  yield* await lookAtHeartbeat(config, environment);
}

/** The heartbeat is not sent: it would tell somebody that all is well. */
async function lookAtHeartbeat(
  { heartbeatUrl, attemptTimeoutMs }: Config,
  environment: Environment,
): Promise<readonly Finding[]> {
  if (heartbeatUrl === undefined) return [];
  const proxy = chooseProxy(heartbeatUrl, environment, []);
  const options = { proxy, timeoutMs: attemptTimeoutMs, now: systemClock.now() };
  const bad = (await lookAtWay(heartbeatUrl, options)).find(({ result }) => result === 'fail');
  if (bad === undefined) return [ok('heartbeat', `${heartbeatUrl.origin} can be reached; nothing was sent`)];
  const mend = 'check LEAGUE_SYNC_HEARTBEAT_URL, DNS and the network; polls do not depend on it';
  return [warn('heartbeat', { message: bad.message, mend })];
}

function describeSlots({ schedule, profileSchedule }: Config): Finding {
  // The first one knows of summer time.
  const slots = [...new Set([schedule.nextSlot(), ...schedule.nextSlots(SLOTS_SHOWN)])].sort((a, b) => a - b);
  const next = slots.slice(0, SLOTS_SHOWN).map(formatInstant).join(', ');
  const profile = profileSchedule === 'off' ? 'off' : `"${profileSchedule.expression}"`;
  return ok('polls', `next at ${next} ("${schedule.expression}", ${schedule.timezone}); profile ${profile}`);
}
