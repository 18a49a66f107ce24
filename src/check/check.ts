import { type Config, loadConfig } from '../config/config.ts';
import { isLoopback } from '../config/host.ts';
import type { MirrorTarget } from '../config/mirror.ts';
import { databasePath } from '../config/paths.ts';
import type { ProxyServer } from '../config/proxy.ts';
import type { Environment, Settings } from '../config/read-environment.ts';
import { type Problem, SettingsError } from '../errors.ts';
import { createMirrorProcess, type RunMirror } from '../mirror/process.ts';
import type { Program } from '../outputs/child-process.ts';
import { sizeOf } from '../store/database-file.ts';
import { plural } from '../terminal/text.ts';
import { formatTimestamp, systemClock } from '../time/clock.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { checkDatabase, checkNoise, checkOwner, checkPublishing, type DatabaseTarget } from './database.ts';
import { checkConnection, checkListen } from './network.ts';
import { type CheckResult, fail, failure, LARGE_BYTES, ok, skipped, type Watch, warn } from './result.ts';
import { checkService } from './service.ts';

/** `settings` throws a SettingsError if `.env` cannot be read. */
export type CheckSource = {
  readonly settings: () => Settings;
  readonly environment: Environment;
} & Program;

const RUNS_SHOWN = 5;
/** Where none is set, beside a worker. */
const SETTINGS_OF_WORKER =
  'a worker uses this database: run check with its settings and as its user (under systemd: docs/deployment/systemd.md)';

/** Yields results while the checks run. Writes nothing and does not take the worker's lock. */
export async function* checkAll(source: CheckSource, watch: Watch): AsyncGenerator<CheckResult> {
  const { results, config, path, advice } = checkSettings(source);
  yield* results;
  watch.say('reading the database', (tryOrUndefined(() => sizeOf(path ?? '')) ?? 0) > LARGE_BYTES);
  const database = path === undefined ? undefined : checkDatabase(path);
  if (config !== undefined) yield describeSchedule(config, systemClock.now());
  yield* database?.results ?? [];
  if (config === undefined || database === undefined) {
    yield skipped('everything that needs valid settings', advice && database?.isInUse ? SETTINGS_OF_WORKER : advice);
    return;
  }
  if (database.state === 'readable') {
    yield checkOwner(database.path, config.baseUrl);
    yield* checkNoise(database.path, config.quietFields);
  }
  yield* checkOutputs(config, database, createMirrorProcess(source), watch);
  yield* checkService(config, database, watch);
}

/** If a setting is invalid, `config` is undefined. If `.env` is unreadable, `path` is undefined, too. */
function checkSettings({ settings, environment }: CheckSource) {
  const toWarning = ({ message, fix }: Problem) => warn('settings', message, fix);
  let path: string | undefined;
  try {
    const set = settings();
    path = databasePath(set.values);
    const config = loadConfig(set, environment);
    const good = ok('settings', `${Object.keys(set.values).length} set, all of them valid`);
    const results = config.warnings.length === 0 ? [good] : config.warnings.map(toWarning);
    return { results, config, path, advice: undefined };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const failures = error.problems.map(({ message, fix }) => fail('settings', message, fix));
    const results = [...failures, ...error.warnings.map(toWarning)];
    return { results, config: undefined, path, advice: error.advice };
  }
}

async function* checkOutputs(config: Config, database: DatabaseTarget, run: RunMirror, { stop, say }: Watch) {
  const { copy, listen, heartbeat, webhook, mirror, attemptTimeoutMs } = config;
  if (copy !== undefined) yield checkPublishing(copy, database);
  yield await checkListen(listen, database.isInUse);
  say('connecting to the outputs');
  if (heartbeat !== undefined) yield await checkReachable('heartbeat', heartbeat(), attemptTimeoutMs);
  if (webhook !== undefined) yield await checkReachable('webhook', webhook(), attemptTimeoutMs);
  if (mirror === undefined) return;
  if (database.state === 'readable') yield await checkMirror(database.path, mirror(), run, stop);
  else yield skipped('the mirror, because the database could not be read', 'start the worker, and check again');
}

type Receiver = { readonly url: URL; readonly proxy: ProxyServer | undefined };

/** Only tests name, connection and TLS: a receiver would take a request for news. */
async function checkReachable(name: 'heartbeat' | 'webhook', { url, proxy }: Receiver, timeoutMs: number) {
  const results = await checkConnection(url, proxy, timeoutMs);
  // That http is not encrypted is what the operator has allowed.
  const found = results.find(({ result }) => result === 'fail' || (result === 'warn' && url.protocol === 'https:'));
  const reached = proxy === undefined ? url.origin : `the proxy ${proxy.label} to ${url.origin}`;
  if (found === undefined) return ok(name, `${reached} is reachable; nothing was sent`);
  const fix =
    (found.result === 'warn' && found.fix) || `check LEAGUE_SYNC_${name.toUpperCase()}_URL, DNS and the network`;
  return warn(name, `${found.message}; polls do not depend on it`, fix);
}

/** Connection, TLS, rights and version of the server, and how far the mirror is. Polls do not depend on it. */
async function checkMirror(
  path: string,
  target: MirrorTarget,
  run: RunMirror,
  signal: AbortSignal,
): Promise<CheckResult> {
  try {
    const { version, tls, filled } = await run('inspect', { path, target }, { signal });
    const about = `PostgreSQL ${version}, ${tls ?? 'no TLS'}`;
    const { host } = target.server;
    if (tls === undefined && !host.startsWith('/') && !isLoopback(host)) {
      const fix = 'add sslmode=verify-full to LEAGUE_SYNC_POSTGRES_URL, if the server has TLS';
      return warn('mirror', `${about}: the data travels unencrypted`, fix);
    }
    if (filled === undefined) return ok('mirror', `${about}; not filled yet: a worker fills it, or league-sync mirror`);
    const { seq, lag } = filled;
    if (lag === 0) return ok('mirror', `${about}; up to date with change ${seq}`);
    const fix = 'start the worker if none runs, or run league-sync mirror';
    return warn('mirror', `${about}; ${plural(lag, 'change')} behind`, fix);
  } catch (error) {
    return failure('mirror', error, 'check LEAGUE_SYNC_POSTGRES_URL, the server and the network');
  }
}

/** The next polls after `now` (ms), and how the schedules are read. */
export function describeSchedule(config: Pick<Config, 'schedule' | 'profileSchedule'>, now: number): CheckResult {
  const { schedule, profileSchedule } = config;
  const length = schedule.expression.split(' ').length === 6 ? 19 : 16;
  const next = schedule.nextTimes(RUNS_SHOWN, now).map((run) => formatTimestamp(run).slice(0, length).split('T'));
  const dated = next.map(([day, time], index) => (day === next[index - 1]?.[0] ? time : `${day} ${time}`));
  const profile = profileSchedule === 'off' ? 'off' : profileSchedule.label;
  const times = `${dated.join(', ')} UTC (${schedule.label}, ${schedule.timezone})`;
  return ok('polls', `due at ${times}; profile ${profile}`);
}
