import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseSchedule, type Schedule } from '../cron.ts';
import { type Fault, formatFault, SettingsError } from '../errors.ts';
import { findPackage } from '../package.ts';
import { findContradictions } from './contradiction.ts';
import { type Credentials, findCredentials, findHeartbeat, type HeartbeatSource } from './credentials.ts';
import type { Environment, Settings } from './environment.ts';
import { besides, type SettingsSource } from './paths.ts';
import { chooseProxy, isLoopback, type ProxyServer } from './proxy.ts';
import { collect, type ReadSettings, readSetting, SETTING_NAMES, type SettingName, type Values } from './settings.ts';

export type Scope = ReadSettings['LEAGUE_SYNC_STATUS'];

/** A `format` of undefined is readable text at a terminal, and JSON elsewhere. */
export type LogConfig = { readonly level: string; readonly format: 'json' | 'pretty' | undefined };

/** The settings, read and proved. Durations are in ms, sizes in bytes. */
export type Config = Readonly<ReturnType<typeof assemble>> & {
  /** What is odd about the settings without making them unusable. */
  readonly warnings: readonly Fault[];
};

/** The settings that say when data is stale. */
export type StaleSettings = Pick<Config, 'schedule' | 'runTimeoutMs' | 'staleAfterMs'>;

/** Reads the settings, and the proxy variables of the environment. Throws a SettingsError that names every fault. */
export function loadConfig(settings: Settings, environment: Environment): Config {
  const { values, warnings } = settings;
  const faults: Fault[] = [];
  const read = readAll(values, faults);
  const zone = read.LEAGUE_SYNC_TIMEZONE ?? 'UTC';
  const url = read.LEAGUE_SYNC_BASE_URL;
  const credentials = findCredentials(values, faults);
  const schedule = collect(() => readSchedule(values, 'LEAGUE_SYNC_SCHEDULE', zone), faults);
  const profileSchedule = collect(() => readProfileSchedule(values, zone), faults);
  const proxy = url && chooseProxy(url, environment, faults);
  const heartbeat = findHeartbeat(values, environment, faults);
  refuseClearText(read, faults);
  refusePublishingOverDatabase(read, faults);
  if (!isComplete(read, faults) || !credentials || !schedule || !profileSchedule)
    throw new SettingsError(withoutRepetitions(faults), warnings, adviseOn(settings));
  const config = assemble(read, { credentials, schedule, profileSchedule, proxy, heartbeat });
  return { ...config, warnings: [...warnings, ...findContradictions(config, values)] };
}

/** What is made of more than one setting. */
type Parts = {
  readonly credentials: Credentials;
  readonly schedule: Schedule;
  readonly profileSchedule: Schedule | 'off';
  /** The way to the service, if it is not direct. */
  readonly proxy: ProxyServer | undefined;
  readonly heartbeat: HeartbeatSource | undefined;
};

function assemble(read: ReadSettings, parts: Parts) {
  return {
    ...parts,
    /** {base_url} of the interface, without a slash at its end. */
    baseUrl: read.LEAGUE_SYNC_BASE_URL.href.replace(/\/+$/, ''),
    database: read.LEAGUE_SYNC_DATABASE,
    scope: read.LEAGUE_SYNC_STATUS,
    loginLeewayMs: read.LEAGUE_SYNC_LOGIN_LEEWAY,
    attemptTimeoutMs: read.LEAGUE_SYNC_ATTEMPT_TIMEOUT,
    runTimeoutMs: read.LEAGUE_SYNC_RUN_TIMEOUT,
    maxBodyBytes: read.LEAGUE_SYNC_MAX_BODY,
    /** Share of the live rows in scope, 0 to 1. */
    removalLimit: read.LEAGUE_SYNC_REMOVAL_LIMIT,
    runRetentionMs: read.LEAGUE_SYNC_RUN_RETENTION,
    /** Undefined if the schedule decides. */
    staleAfterMs: read.LEAGUE_SYNC_STALE_AFTER,
    listen: read.LEAGUE_SYNC_LISTEN,
    publish: read.LEAGUE_SYNC_PUBLISH,
    log: { level: read.LEAGUE_SYNC_LOG_LEVEL, format: read.LEAGUE_SYNC_LOG_FORMAT } as LogConfig,
  };
}

function readAll(values: Values, faults: Fault[]): Partial<ReadSettings> {
  return Object.fromEntries(
    SETTING_NAMES.map((name) => [name, collect(() => readSetting(values, name), faults)]),
  ) as Partial<ReadSettings>;
}

function isComplete(_read: Partial<ReadSettings>, faults: readonly Fault[]): _read is ReadSettings {
  return faults.length === 0;
}

function readSchedule(values: Values, name: 'LEAGUE_SYNC_SCHEDULE' | 'LEAGUE_SYNC_PROFILE_SCHEDULE', zone: string) {
  const expression = readSetting(values, name);
  try {
    return parseSchedule(expression, zone);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it is not a cron expression';
    const fix = 'write 5 fields such as */5 * * * *, or 6 with seconds first';
    throw new SettingsError([{ message: `${name}: "${expression}" cannot be used (${why})`, fix }]);
  }
}

function readProfileSchedule(values: Values, zone: string): Schedule | 'off' {
  const isOff = values.LEAGUE_SYNC_PROFILE_SCHEDULE?.trim() === 'off';
  return isOff ? 'off' : readSchedule(values, 'LEAGUE_SYNC_PROFILE_SCHEDULE', zone);
}

/** The log settings alone. Throws a SettingsError. */
export function loadLogConfig({ values }: Settings): LogConfig {
  const faults: Fault[] = [];
  const level = collect(() => readSetting(values, 'LEAGUE_SYNC_LOG_LEVEL'), faults);
  const format = collect(() => readSetting(values, 'LEAGUE_SYNC_LOG_FORMAT'), faults);
  if (level === undefined || faults.length > 0) throw new SettingsError(faults);
  return { level, format };
}

/**
 * The settings that say when data is stale, for a command that needs only the database: it warns of one that cannot be
 * used, and goes by its default.
 */
export function loadStaleSettings({ settings, warn }: SettingsSource): StaleSettings {
  const set = settings().values;
  const orDefault = <T>(name: SettingName, read: (values: Values) => T): T => {
    const value = collect(() => [read(set)] as const, []);
    if (value !== undefined) return value[0];
    const message = `${name}: "${set[name]}" cannot be used; its default decides when data is stale`;
    warn({ message, fix: 'league-sync check says how to write it' });
    return read({});
  };
  const read = <Name extends SettingName>(name: Name) => orDefault(name, (values) => readSetting(values, name));
  const zone = read('LEAGUE_SYNC_TIMEZONE');
  return {
    schedule: orDefault('LEAGUE_SYNC_SCHEDULE', (values) => readSchedule(values, 'LEAGUE_SYNC_SCHEDULE', zone)),
    runTimeoutMs: read('LEAGUE_SYNC_RUN_TIMEOUT'),
    staleAfterMs: read('LEAGUE_SYNC_STALE_AFTER'),
  };
}

/** Credentials may be sent unencrypted only where they do not leave the machine. */
function refuseClearText({ LEAGUE_SYNC_BASE_URL: url, ...read }: Partial<ReadSettings>, faults: Fault[]): void {
  if (url === undefined || url.protocol === 'https:' || read.LEAGUE_SYNC_ALLOW_HTTP || isLoopback(url.hostname)) return;
  faults.push({
    message: 'LEAGUE_SYNC_BASE_URL: http would send the credentials unencrypted',
    fix: 'use https, or set LEAGUE_SYNC_ALLOW_HTTP=true',
  });
}

/** The files that SQLite, the lock and upgrades have beside a database would be taken for what they are not. */
function refusePublishingOverDatabase(read: Partial<ReadSettings>, faults: Fault[]): void {
  const { LEAGUE_SYNC_PUBLISH: publish, LEAGUE_SYNC_DATABASE: database } = read;
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

/** One proxy may be named for two ways. */
function withoutRepetitions(faults: readonly Fault[]): readonly Fault[] {
  return [...new Map(faults.map((fault) => [formatFault(fault), fault])).values()];
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
