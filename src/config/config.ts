import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Schedule } from '../cron.ts';
import { CredentialsError, SettingsError } from '../errors.ts';
import { type Credentials, createCredentials, readSecret, type SecretSource } from './credentials.ts';
import { besides } from './database.ts';
import { type Environment, mergeEnvironment, SECRET_NAMES, warnOfUnknown } from './environment.ts';
import type { ListenAddress } from './listen.ts';
import { SETTING_NAMES } from './name.ts';
import { chooseProxy, type ProxyServer } from './proxy.ts';
import { maySendCredentials, readSchedule, settingsSchema } from './settings.ts';

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
  /** Whoever knows it may speak for this worker: never to be shown. */
  readonly heartbeatUrl: URL | undefined;
  readonly heartbeatProxy: ProxyServer | undefined;
  readonly publish: string | undefined;
  readonly log: LogConfig;
  /** What is odd about the settings without making them unusable. */
  readonly warnings: readonly string[];
};

type Settings = Readonly<Record<string, string>>;

/**
 * Reads the settings of section 2 of the contract, and the proxy variables of the environment. Throws a SettingsError
 * that names every fault at once.
 */
export function loadConfig(settings: Settings, environment: Environment): Config {
  const faults: string[] = [];
  const read = settingsSchema.safeParse(settings);
  if (!read.success) faults.push(...read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  const username = secretSource(settings, SECRET_NAMES[0], faults);
  const password = secretSource(settings, SECRET_NAMES[1], faults);
  const schedule = scheduleSetting(settings, 'LEAGUE_SYNC_SCHEDULE', faults);
  const off = settings.LEAGUE_SYNC_PROFILE_SCHEDULE?.trim() === 'off';
  const profileSchedule = off ? 'off' : scheduleSetting(settings, 'LEAGUE_SYNC_PROFILE_SCHEDULE', faults);
  const address = shape.LEAGUE_SYNC_BASE_URL.safeParse(settings.LEAGUE_SYNC_BASE_URL).data;
  const proxy = address && chooseProxy(address, environment, faults);
  const heartbeatUrl = shape.LEAGUE_SYNC_HEARTBEAT_URL.safeParse(settings.LEAGUE_SYNC_HEARTBEAT_URL).data;
  const heartbeatProxy = heartbeatUrl && chooseProxy(heartbeatUrl, environment, faults);
  refuseClearText(address, settings, faults);
  refusePublishingOverDatabase(settings, faults);

  const warnings = warnOfUnknown(settings, SETTING_NAMES);
  if (!read.success || faults.length > 0) throw new SettingsError([...new Set(faults), ...warnings]);
  if (!username || !password || !schedule || !profileSchedule) throw new SettingsError(faults);
  const all = read.data;
  return {
    baseUrl: all.LEAGUE_SYNC_BASE_URL.href.replace(/\/+$/, ''),
    proxy,
    credentials: createCredentials(username, password),
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
    heartbeatUrl,
    heartbeatProxy,
    publish: all.LEAGUE_SYNC_PUBLISH,
    log: { level: all.LEAGUE_SYNC_LOG_LEVEL, format: all.LEAGUE_SYNC_LOG_FORMAT },
    warnings,
  };
}

/** The log settings alone. Throws a SettingsError. */
export function loadLogConfig(environment: Environment): LogConfig {
  const names = { LEAGUE_SYNC_LOG_LEVEL: true, LEAGUE_SYNC_LOG_FORMAT: true } as const;
  const read = settingsSchema.pick(names).safeParse(mergeEnvironment(environment));
  if (read.success) return { level: read.data.LEAGUE_SYNC_LOG_LEVEL, format: read.data.LEAGUE_SYNC_LOG_FORMAT };
  throw new SettingsError(read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
}

// Checks across settings read each by itself, so that a fault in one hides none in another.
const { shape } = settingsSchema;

function scheduleSetting(
  settings: Settings,
  name: 'LEAGUE_SYNC_SCHEDULE' | 'LEAGUE_SYNC_PROFILE_SCHEDULE',
  faults: string[],
): Schedule | undefined {
  const zone = shape.LEAGUE_SYNC_TIMEZONE.safeParse(settings.LEAGUE_SYNC_TIMEZONE).data ?? 'UTC';
  const schedule = readSchedule(shape[name].parse(settings[name]), zone);
  if (!('fault' in schedule)) return schedule;
  faults.push(`${name}: ${schedule.fault}`);
  return undefined;
}

function refuseClearText(url: URL | undefined, settings: Settings, faults: string[]): void {
  const allowed = shape.LEAGUE_SYNC_ALLOW_HTTP.safeParse(settings.LEAGUE_SYNC_ALLOW_HTTP).data ?? false;
  if (url === undefined || maySendCredentials(url, allowed)) return;
  faults.push(
    'LEAGUE_SYNC_BASE_URL: http would send the credentials in clear; use https, or set LEAGUE_SYNC_ALLOW_HTTP=true',
  );
}

/** The files that SQLite, the lock and upgrades have beside a database would be taken for what they are not. */
function refusePublishingOverDatabase(settings: Settings, faults: string[]): void {
  const publish = shape.LEAGUE_SYNC_PUBLISH.safeParse(settings.LEAGUE_SYNC_PUBLISH).data;
  const database = shape.LEAGUE_SYNC_DATABASE.safeParse(settings.LEAGUE_SYNC_DATABASE).data;
  if (publish === undefined || database === undefined) return;
  const [target, own] = [locate(publish), locate(database)];
  if ([own, ...besides(own)].includes(target) || target.startsWith(`${own}.schema-`))
    faults.push('LEAGUE_SYNC_PUBLISH: it is the database itself, or a file beside it; name another path for the copy');
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

function secretSource(settings: Settings, name: string, faults: string[]): SecretSource | undefined {
  const value = settings[name];
  const file = settings[`${name}_FILE`];
  if (value !== undefined && file !== undefined) {
    faults.push(`${name}: both it and ${name}_FILE are set; keep one`);
    return undefined;
  }
  const source = value !== undefined ? { value } : file !== undefined ? { file } : undefined;
  const fault = source === undefined ? `it is required; set it, or ${name}_FILE` : secretFault(name, source);
  if (fault === undefined) return source;
  faults.push(`${file === undefined ? name : `${name}_FILE`}: ${fault}`);
  return undefined;
}

function secretFault(name: string, source: SecretSource): string | undefined {
  try {
    const colon = readSecret(source).includes(':') && name === SECRET_NAMES[0];
    return colon ? 'a username with a colon cannot be sent' : undefined;
  } catch (error) {
    if (error instanceof CredentialsError) return error.message;
    throw error;
  }
}
