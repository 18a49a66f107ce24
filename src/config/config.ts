import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Schedule } from '../cron.ts';
import { type Fault, formatFault, SettingsError } from '../errors.ts';
import { findPackage } from '../package.ts';
import { findContradictions } from './contradiction.ts';
import { type Credentials, findCredentials } from './credentials.ts';
import { besides } from './database.ts';
import type { Environment, Settings } from './environment.ts';
import { findHeartbeat, type HeartbeatSource } from './heartbeat.ts';
import type { ListenAddress } from './listen.ts';
import { chooseProxy, type ProxyServer } from './proxy.ts';
import { faultsOf, maySendCredentials, readSchedule, settingsSchema } from './settings.ts';

export type Scope = 'all' | 'active' | 'inactive';

export type LogConfig = {
  readonly level: string;
  /** Undefined: readable text at a terminal, JSON elsewhere. */
  readonly format: 'json' | 'pretty' | undefined;
};

/** The settings, read and proved. Durations are in ms, sizes in bytes. */
export type Config = {
  /** {base_url} of the interface, without a slash at its end. */
  readonly baseUrl: string;
  /** The way to the service, where it is not direct. */
  readonly proxy: ProxyServer | undefined;
  readonly credentials: Credentials;
  readonly database: string;
  readonly schedule: Schedule;
  readonly profileSchedule: Schedule | 'off';
  readonly scope: Scope;
  readonly loginLeewayMs: number;
  readonly attemptTimeoutMs: number;
  readonly runTimeoutMs: number;
  readonly maxBodyBytes: number;
  /** Share of the live rows in scope, 0 to 1. */
  readonly removalLimit: number;
  readonly runRetentionMs: number;
  readonly staleAfterMs: number | undefined;
  readonly listen: ListenAddress | 'off';
  readonly heartbeat: HeartbeatSource | undefined;
  readonly publish: string | undefined;
  readonly log: LogConfig;
  /** What is odd about the settings without making them unusable. */
  readonly warnings: readonly Fault[];
};

type Values = Settings['values'];

/**
 * Reads the settings of section 2 of the contract, and the proxy variables of the environment. Throws a SettingsError
 * that names every fault at once.
 */
export function loadConfig(settings: Settings, environment: Environment): Config {
  const { values, warnings } = settings;
  const faults: Fault[] = [];
  const read = settingsSchema.safeParse(values);
  if (!read.success) faults.push(...faultsOf(read.error));
  const credentials = findCredentials(values, faults);
  const schedule = scheduleSetting(values, 'LEAGUE_SYNC_SCHEDULE', faults);
  const isOff = values.LEAGUE_SYNC_PROFILE_SCHEDULE?.trim() === 'off';
  const profileSchedule = isOff ? 'off' : scheduleSetting(values, 'LEAGUE_SYNC_PROFILE_SCHEDULE', faults);
  const address = shape.LEAGUE_SYNC_BASE_URL.safeParse(values.LEAGUE_SYNC_BASE_URL).data;
  const proxy = address && chooseProxy(address, environment, faults);
  const heartbeat = findHeartbeat(values, environment, faults);
  refuseClearText(address, values, faults);
  refusePublishingOverDatabase(values, faults);

  if (!read.success || !credentials || !schedule || !profileSchedule || faults.length > 0) {
    throw new SettingsError(withoutRepetitions(faults), warnings, adviseOn(settings));
  }
  const all = read.data;
  const config: Omit<Config, 'warnings'> = {
    baseUrl: all.LEAGUE_SYNC_BASE_URL.href.replace(/\/+$/, ''),
    proxy,
    credentials,
    database: all.LEAGUE_SYNC_DATABASE,
    schedule,
    profileSchedule,
    scope: all.LEAGUE_SYNC_STATUS,
    loginLeewayMs: all.LEAGUE_SYNC_LOGIN_LEEWAY,
    attemptTimeoutMs: all.LEAGUE_SYNC_ATTEMPT_TIMEOUT,
    runTimeoutMs: all.LEAGUE_SYNC_RUN_TIMEOUT,
    maxBodyBytes: all.LEAGUE_SYNC_MAX_BODY,
    removalLimit: all.LEAGUE_SYNC_REMOVAL_LIMIT,
    runRetentionMs: all.LEAGUE_SYNC_RUN_RETENTION,
    staleAfterMs: all.LEAGUE_SYNC_STALE_AFTER,
    listen: all.LEAGUE_SYNC_LISTEN,
    heartbeat,
    publish: all.LEAGUE_SYNC_PUBLISH,
    log: { level: all.LEAGUE_SYNC_LOG_LEVEL, format: all.LEAGUE_SYNC_LOG_FORMAT },
  };
  return { ...config, warnings: [...warnings, ...findContradictions(config, values)] };
}

/** What to do at a first start, when nothing that is required is set. */
function adviseOn({ values, hasDotenv }: Settings): string | undefined {
  if (Object.keys(values).some((name) => /^LEAGUE_SYNC_(BASE_URL|USERNAME|PASSWORD)/.test(name))) return undefined;
  if (hasDotenv) return 'write these settings into .env; the README explains all of them';
  const example = join(findPackage().folder, '.env.example');
  if (!existsSync(example)) return 'set these in the environment or in .env; the README explains all of them';
  const path = relative('.', example);
  return `copy ${path.startsWith('..') ? example : path} to .env and fill it in; the README explains all settings`;
}

/** The log settings alone. Throws a SettingsError. */
export function loadLogConfig({ values }: Settings): LogConfig {
  const names = { LEAGUE_SYNC_LOG_LEVEL: true, LEAGUE_SYNC_LOG_FORMAT: true } as const;
  const read = settingsSchema.pick(names).safeParse(values);
  if (read.success) return { level: read.data.LEAGUE_SYNC_LOG_LEVEL, format: read.data.LEAGUE_SYNC_LOG_FORMAT };
  throw new SettingsError(faultsOf(read.error));
}

// Checks across settings read each by itself, so that a fault in one hides none in another.
const { shape } = settingsSchema;

function scheduleSetting(
  values: Values,
  name: 'LEAGUE_SYNC_SCHEDULE' | 'LEAGUE_SYNC_PROFILE_SCHEDULE',
  faults: Fault[],
): Schedule | undefined {
  const zone = shape.LEAGUE_SYNC_TIMEZONE.safeParse(values.LEAGUE_SYNC_TIMEZONE).data ?? 'UTC';
  const schedule = readSchedule(shape[name].parse(values[name]), zone);
  if (!('fault' in schedule)) return schedule;
  faults.push({ ...schedule.fault, message: `${name}: ${schedule.fault.message}` });
  return undefined;
}

function refuseClearText(url: URL | undefined, values: Values, faults: Fault[]): void {
  const allowed = shape.LEAGUE_SYNC_ALLOW_HTTP.safeParse(values.LEAGUE_SYNC_ALLOW_HTTP).data ?? false;
  if (url === undefined || maySendCredentials(url, allowed)) return;
  faults.push({
    message: 'LEAGUE_SYNC_BASE_URL: http would send the credentials unencrypted',
    fix: 'use https, or set LEAGUE_SYNC_ALLOW_HTTP=true',
  });
}

/** One proxy may be named for two ways. */
function withoutRepetitions(faults: readonly Fault[]): readonly Fault[] {
  return [...new Map(faults.map((fault) => [formatFault(fault), fault])).values()];
}

/** The files that SQLite, the lock and upgrades have beside a database would be taken for what they are not. */
function refusePublishingOverDatabase(values: Values, faults: Fault[]): void {
  const publish = shape.LEAGUE_SYNC_PUBLISH.safeParse(values.LEAGUE_SYNC_PUBLISH).data;
  const database = shape.LEAGUE_SYNC_DATABASE.safeParse(values.LEAGUE_SYNC_DATABASE).data;
  if (publish === undefined || database === undefined) return;
  const [target, own] = [locate(publish), locate(database)];
  if ([own, ...besides(own)].includes(target) || target.startsWith(`${own}.schema-`))
    faults.push({
      message: 'LEAGUE_SYNC_PUBLISH: is the database itself, or a file beside it',
      fix: 'name another path for the copy',
    });
}

/** Where a path leads, as far as its folder is there. */
function locate(path: string): string {
  const absolute = resolve(path);
  try {
    return join(realpathSync(dirname(absolute)), basename(absolute));
  } catch {
    return absolute;
  }
}
