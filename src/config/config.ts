import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Problem, SettingsError } from '../errors.ts';
import { findPackage } from '../package.ts';
import { formatDuration, writeDuration } from '../time/duration.ts';
import { findCredentials, findHeartbeat, findOddSecrets } from './credentials.ts';
import { findMirror } from './mirror.ts';
import { readPublishPath } from './paths.ts';
import { chooseProxy, findNetworkWarnings } from './proxy.ts';
import type { Environment, Settings } from './read-environment.ts';
import { findScheduleDoubts, readProfileSchedule, readSchedule } from './schedule.ts';
import {
  assertEncrypted,
  type ReadSettings,
  readAll,
  readSetting,
  type SettingName,
  type Values,
} from './setting-definitions.ts';
import { findWebhook } from './webhook.ts';

export type Scope = ReadSettings['LEAGUE_SYNC_STATUS'];

/** The validated settings. Durations are in ms, sizes in bytes. */
export type Config = ReturnType<typeof readConfig> & { readonly warnings: readonly Problem[] };

/** If `format` is undefined, the log is readable text at a terminal and JSON elsewhere. */
export type LogConfig = ReturnType<typeof loadLogConfig>;

/** Validates the settings and the proxy variables of the environment. Throws a SettingsError with every problem. */
export function loadConfig(settings: Settings, environment: Environment): Config {
  const { values, warnings } = settings;
  try {
    const config = readConfig(values, environment);
    const found = [...findContradictions(config, values), ...findNetworkWarnings(environment)];
    return { ...config, warnings: [...warnings, ...found] };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new SettingsError(error.problems, warnings, firstSteps(settings));
  }
}

function readConfig(values: Values, environment: Environment) {
  const read = <Name extends SettingName>(name: Name) => readSetting(values, name);
  return readAll({
    /** {base_url} of the interface, without a trailing slash. */
    baseUrl: () => readBaseUrl(values).href.replace(/\/+$/, ''),
    allowHttp: () => read('LEAGUE_SYNC_ALLOW_HTTP'),
    proxy: () => chooseProxy(read('LEAGUE_SYNC_BASE_URL'), environment),
    credentials: () => findCredentials(values),
    database: () => read('LEAGUE_SYNC_DATABASE'),
    schedule: () => readSchedule(values, 'LEAGUE_SYNC_SCHEDULE'),
    timezone: () => read('LEAGUE_SYNC_TIMEZONE'),
    runTimeoutMs: () => read('LEAGUE_SYNC_RUN_TIMEOUT'),
    /** If undefined, the schedule determines when data is stale. */
    staleAfterMs: () => read('LEAGUE_SYNC_STALE_AFTER'),
    profileSchedule: () => readProfileSchedule(values),
    scope: () => read('LEAGUE_SYNC_STATUS'),
    /** In ascending order. */
    quietFields: () => read('LEAGUE_SYNC_QUIET_FIELDS'),
    loginLeewayMs: () => read('LEAGUE_SYNC_LOGIN_LEEWAY'),
    attemptTimeoutMs: () => read('LEAGUE_SYNC_ATTEMPT_TIMEOUT'),
    maxBodyBytes: () => read('LEAGUE_SYNC_MAX_BODY'),
    /** A share, from 0 to 1, of the live leagues in scope. */
    removalLimit: () => read('LEAGUE_SYNC_REMOVAL_LIMIT'),
    runRetentionMs: () => read('LEAGUE_SYNC_RUN_RETENTION'),
    listen: () => read('LEAGUE_SYNC_LISTEN'),
    /** As `normalizeHost` returns them. */
    allowedHosts: () => read('LEAGUE_SYNC_ALLOWED_HOSTS'),
    heartbeat: () => findHeartbeat(values, environment),
    webhook: () => findWebhook(values, environment),
    /** Whether a clean stop leaves the WAL, for programs that follow it. */
    keepWal: () => read('LEAGUE_SYNC_KEEP_WAL'),
    mirror: () => findMirror(values, environment),
    copy: () => readPublishPath(values),
    log: () => loadLogConfig({ values }),
  });
}

export function loadLogConfig({ values }: Pick<Settings, 'values'>) {
  return readAll({
    level: () => readSetting(values, 'LEAGUE_SYNC_LOG_LEVEL'),
    format: () => readSetting(values, 'LEAGUE_SYNC_LOG_FORMAT'),
  });
}

function readBaseUrl(values: Values): URL {
  const url = readSetting(values, 'LEAGUE_SYNC_BASE_URL');
  assertEncrypted(url, 'LEAGUE_SYNC_BASE_URL', 'the credentials', readSetting(values, 'LEAGUE_SYNC_ALLOW_HTTP'));
  return url;
}

/** Instructions for a first start; undefined if any required setting is set. */
function firstSteps({ values, hasDotenv }: Settings): string | undefined {
  if (Object.keys(values).some((name) => /^LEAGUE_SYNC_(BASE_URL|USERNAME|PASSWORD)/.test(name))) return undefined;
  const example = join(findPackage().folder, '.env.example');
  const demo = '. To try it without settings: league-sync demo';
  if (hasDotenv || !existsSync(example))
    return `write these settings into .env; docs/configuration.md explains them${demo}`;
  const path = relative('.', example);
  return `copy ${path.startsWith('..') ? example : path} to .env and fill it in; docs/configuration.md explains all settings${demo}`;
}

const NEEDED = [
  ['LEAGUE_SYNC_WEBHOOK_SECRET', 'LEAGUE_SYNC_WEBHOOK_URL'],
  ['LEAGUE_SYNC_POSTGRES_SCHEMA', 'LEAGUE_SYNC_POSTGRES_URL'],
] as const;

/** Warnings about settings that have no effect without another one. */
function findUnused(values: Values): readonly Problem[] {
  const setName = (name: string) => [name, `${name}_FILE`].find((form) => values[form] !== undefined);
  return NEEDED.flatMap(([setting, url]) => {
    const name = setName(url) === undefined ? setName(setting) : undefined;
    return name === undefined ? [] : [{ message: `${name} is set, but ${url} is not`, fix: 'set both, or remove it' }];
  });
}

/** How many scheduled times are compared to find the shortest interval between polls. */
const RUNS_COMPARED = 10;

/** Finds settings that are each valid, but make no sense together. */
function findContradictions(config: Omit<Config, 'warnings'>, values: Values): readonly Problem[] {
  const { schedule, runTimeoutMs, staleAfterMs, attemptTimeoutMs } = config;
  const problems: Problem[] = [...findOddSecrets(values), ...findUnused(values), ...findScheduleDoubts(config)];
  const runs = schedule.nextTimes(RUNS_COMPARED);
  const intervalMs = Math.min(...runs.slice(1).map((run, index) => run - (runs[index] ?? run)));
  // The data would be stale before every poll, so `/readyz` would answer 503 although nothing is wrong.
  if (staleAfterMs !== undefined && staleAfterMs <= intervalMs) {
    const message = `LEAGUE_SYNC_STALE_AFTER: data is stale after ${formatDuration(staleAfterMs)}, but polls are ${formatDuration(intervalMs)} apart (LEAGUE_SYNC_SCHEDULE)`;
    problems.push({ message, fix: `set it to ${writeDuration(intervalMs + runTimeoutMs)} or more, or remove it` });
  }
  // Checked only if the attempt timeout was set: with its default, a shorter run timeout just ends an attempt early.
  if (values.LEAGUE_SYNC_ATTEMPT_TIMEOUT !== undefined && attemptTimeoutMs > runTimeoutMs) {
    const message = `LEAGUE_SYNC_ATTEMPT_TIMEOUT: one request may take ${formatDuration(attemptTimeoutMs)}, but the whole run only ${formatDuration(runTimeoutMs)} (LEAGUE_SYNC_RUN_TIMEOUT)`;
    const fix = `set it to ${writeDuration(runTimeoutMs)} or less, or raise LEAGUE_SYNC_RUN_TIMEOUT`;
    problems.push({ message, fix });
  }
  return problems;
}
