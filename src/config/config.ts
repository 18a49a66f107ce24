import type { z } from 'zod';
import type { Schedule } from '../cron.ts';
import { CredentialsError, SettingsError } from '../errors.ts';
import { type Credentials, createCredentials, readSecret, type SecretSource } from './credentials.ts';
import { type Environment, mergeEnvironment, SECRET_NAMES, warnOfUnknown } from './environment.ts';
import { type ListenAddress, maySendCredentials, readSchedule, SETTING_NAMES, settingsSchema } from './settings.ts';

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
  readonly heartbeatUrl: URL | undefined;
  readonly publish: string | undefined;
  readonly log: LogConfig;
  /** What is odd about the settings without making them unusable. */
  readonly warnings: readonly string[];
};

type Settings = Readonly<Record<string, string>>;
type Shape = typeof settingsSchema.shape;
type Read = z.output<typeof settingsSchema>;

/** Reads the settings of section 2 of the contract. Throws a SettingsError that names every fault at once. */
export function loadConfig(settings: Settings): Config {
  const faults: string[] = [];
  const read = readSettings(settings, faults);
  const username = secretSource(settings, SECRET_NAMES[0], faults);
  const password = secretSource(settings, SECRET_NAMES[1], faults);

  const zone = read.LEAGUE_SYNC_TIMEZONE ?? 'UTC';
  const schedule = scheduleSetting(read, 'LEAGUE_SYNC_SCHEDULE', zone, faults);
  const profileSchedule =
    read.LEAGUE_SYNC_PROFILE_SCHEDULE === 'off'
      ? 'off'
      : scheduleSetting(read, 'LEAGUE_SYNC_PROFILE_SCHEDULE', zone, faults);
  const url = read.LEAGUE_SYNC_BASE_URL;
  if (url !== undefined && !maySendCredentials(url, read.LEAGUE_SYNC_ALLOW_HTTP ?? false)) {
    faults.push(
      'LEAGUE_SYNC_BASE_URL: http would send the credentials in clear; use https, or set LEAGUE_SYNC_ALLOW_HTTP=true',
    );
  }
  const warnings = warnOfUnknown(settings, SETTING_NAMES);
  if (faults.length > 0 || username === undefined || password === undefined) {
    throw new SettingsError([...faults, ...warnings]);
  }

  const all = read as Read;
  return {
    baseUrl: all.LEAGUE_SYNC_BASE_URL.href.replace(/\/+$/, ''),
    credentials: createCredentials(username, password),
    database: all.LEAGUE_SYNC_DATABASE,
    schedule: schedule as Schedule,
    profileSchedule: profileSchedule as Schedule | 'off',
    scope: all.LEAGUE_SYNC_STATUS,
    loginLeewayMs: all.LEAGUE_SYNC_LOGIN_LEEWAY,
    attemptTimeoutMs: all.LEAGUE_SYNC_ATTEMPT_TIMEOUT,
    runTimeoutMs: all.LEAGUE_SYNC_RUN_TIMEOUT,
    maxBodyBytes: all.LEAGUE_SYNC_MAX_BODY,
    removalLimit: all.LEAGUE_SYNC_REMOVAL_LIMIT,
    runRetentionMs: all.LEAGUE_SYNC_RUN_RETENTION,
    staleAfterMs: all.LEAGUE_SYNC_STALE_AFTER,
    listen: all.LEAGUE_SYNC_LISTEN,
    heartbeatUrl: all.LEAGUE_SYNC_HEARTBEAT_URL,
    publish: all.LEAGUE_SYNC_PUBLISH,
    log: { level: all.LEAGUE_SYNC_LOG_LEVEL, format: all.LEAGUE_SYNC_LOG_FORMAT },
    warnings,
  };
}

/** The path of the database alone, for the commands that need nothing else. */
export function loadDatabasePath(settings: Settings): string {
  return settings.LEAGUE_SYNC_DATABASE ?? settingsSchema.shape.LEAGUE_SYNC_DATABASE.parse(undefined);
}

/** The log settings alone. Throws a SettingsError. */
export function loadLogConfig(environment: Environment): LogConfig {
  const settings = mergeEnvironment(environment);
  const faults: string[] = [];
  const level = readOne(settings, 'LEAGUE_SYNC_LOG_LEVEL', faults);
  const format = readOne(settings, 'LEAGUE_SYNC_LOG_FORMAT', faults);
  if (faults.length > 0 || level === undefined) throw new SettingsError(faults);
  return { level, format };
}

function readSettings(settings: Settings, faults: string[]): Partial<Read> {
  const names = Object.keys(settingsSchema.shape) as (keyof Shape)[];
  return Object.fromEntries(names.map((name) => [name, readOne(settings, name, faults)]));
}

function readOne<Name extends keyof Shape>(settings: Settings, name: Name, faults: string[]): Read[Name] | undefined {
  const result = settingsSchema.shape[name].safeParse(settings[name]);
  if (result.success) return result.data as Read[Name];
  faults.push(...result.error.issues.map((issue) => `${name}: ${issue.message}`));
  return undefined;
}

function scheduleSetting(
  read: Partial<Read>,
  name: 'LEAGUE_SYNC_SCHEDULE' | 'LEAGUE_SYNC_PROFILE_SCHEDULE',
  zone: string,
  faults: string[],
): Schedule | undefined {
  const schedule = readSchedule(read[name] ?? '', zone);
  if (!('fault' in schedule)) return schedule;
  faults.push(`${name}: ${schedule.fault}`);
  return undefined;
}

function secretSource(settings: Settings, name: string, faults: string[]): SecretSource | undefined {
  const value = settings[name];
  const file = settings[`${name}_FILE`];
  if (value !== undefined && file !== undefined) {
    faults.push(`${name}: both it and ${name}_FILE are set; keep one`);
    return undefined;
  }
  const source = value !== undefined ? { value } : file !== undefined ? { file } : undefined;
  const fault = source === undefined ? `it is required, or ${name}_FILE instead` : secretFault(name, source);
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
