import { accessSync, constants } from 'node:fs';
import { hostname } from 'node:os';
import { formatInstant, systemClock } from '../clock.ts';
import { type Config, loadConfig } from '../config/config.ts';
import type { HeartbeatSource } from '../config/credentials.ts';
import type { Environment, Settings } from '../config/environment.ts';
import { loadDatabasePath } from '../config/paths.ts';
import { codeOf, type Fault, SettingsError } from '../errors.ts';
import { checkDatabase, checkPublishing, type Database } from './database.ts';
import { checkListening, checkWay } from './network.ts';
import { type CheckResult, fail, ok, skipped, warn } from './result.ts';
import { checkService } from './service.ts';

/** Where settings come from. `settings` throws a SettingsError if `.env` cannot be read. */
export type CheckSource = {
  readonly settings: () => Settings;
  readonly environment: Environment;
  readonly isAlive: (pid: number) => boolean;
};

const SLOTS_SHOWN = 5;
const MINUTE_MS = 60_000;

/**
 * Looks at everything that can go wrong, one thing after the other, and tells of each as soon as it is known. Writes and
 * records nothing, holds no lock, and asks the service once for each thing.
 */
export async function* checkAll(source: CheckSource, stop: AbortSignal): AsyncGenerator<CheckResult> {
  const { results, config, advice } = checkSettings(source);
  yield* results;
  const path = findDatabase(source);
  const database = path === undefined ? undefined : checkDatabase(path, { host: hostname(), isAlive: source.isAlive });
  if (config !== undefined) yield describeSlots(config);
  yield* database?.results ?? [];
  if (config === undefined || database === undefined) {
    yield skipped(['the rest, which needs settings that can be used'], advice);
    return;
  }
  yield* checkOutlets(config, database);
  yield* checkService(config, { database, stop });
}

type CheckedSettings = {
  readonly results: readonly CheckResult[];
  /** Undefined if the settings cannot be used. */
  readonly config: Config | undefined;
  /** What to do about all of what was found; undefined if each line says it. */
  readonly advice?: string | undefined;
};

/** Reads the settings; each fault is a result of its own. */
function checkSettings({ settings, environment }: CheckSource): CheckedSettings {
  const name = 'settings';
  const extra = checkCertificates(environment);
  const odd = ({ message, fix }: Fault): CheckResult => warn(name, message, fix);
  try {
    const set = settings();
    const config = loadConfig(set, environment);
    const good = ok(name, `${Object.keys(set.values).length} set, all of them usable`);
    const { warnings } = config;
    return { results: [...(warnings.length === 0 ? [good] : warnings.map(odd)), ...extra], config };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const bad = error.faults.map(({ message, fix }) => fail(name, message, fix));
    return { results: [...bad, ...error.warnings.map(odd), ...extra], config: undefined, advice: error.advice };
  }
}

/** Node itself only mutters if it cannot read that file, and trusts no one in it. */
function checkCertificates({ NODE_EXTRA_CA_CERTS: file }: Environment): readonly CheckResult[] {
  if (file === undefined || file === '') return [];
  try {
    accessSync(file, constants.R_OK);
    return [];
  } catch (error) {
    const message = `NODE_EXTRA_CA_CERTS: the file ${file} cannot be read (${codeOf(error)})`;
    return [warn('settings', message, 'check its path and permissions')];
  }
}

/** Undefined if the settings cannot even be read. */
function findDatabase({ settings }: CheckSource): string | undefined {
  try {
    return loadDatabasePath({ settings, warn: () => undefined });
  } catch {
    return undefined;
  }
}

/** What else the worker serves. */
async function* checkOutlets(config: Config, database: Database): AsyncGenerator<CheckResult> {
  const { publish, listen } = config;
  if (publish !== undefined) yield checkPublishing(publish, database);
  yield await checkListening(listen, database.isInUse);
  yield* await checkHeartbeat(config.heartbeat, config.attemptTimeoutMs);
}

/** No heartbeat is sent: it would tell somebody that all is well. */
async function checkHeartbeat(
  heartbeat: HeartbeatSource | undefined,
  timeoutMs: number,
): Promise<readonly CheckResult[]> {
  if (heartbeat === undefined) return [];
  const { url, proxy } = heartbeat();
  const bad = (await checkWay(url, proxy, timeoutMs)).find(({ result }) => result === 'fail');
  if (bad === undefined) return [ok('heartbeat', `${url.origin} can be reached; nothing was sent`)];
  const fix = 'check LEAGUE_SYNC_HEARTBEAT_URL, DNS and the network';
  return [warn('heartbeat', `${bad.message}; polls do not depend on it`, fix)];
}

function describeSlots({ schedule, profileSchedule }: Config): CheckResult {
  // The first one knows of summer time.
  const slots = [...new Set([schedule.nextSlot(), ...schedule.nextSlots(SLOTS_SHOWN)])].sort((a, b) => a - b);
  const next = formatSlots(slots.slice(0, SLOTS_SHOWN), systemClock.now());
  const profile = profileSchedule === 'off' ? 'off' : `"${profileSchedule.expression}"`;
  return ok('polls', `next at ${next} ("${schedule.expression}", ${schedule.timezone}); profile ${profile}`);
}

/** Times of day in UTC; the date is said if it is another than before, and seconds if there are any. */
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
