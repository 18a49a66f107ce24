import { type Config, loadConfig } from '../config/config.ts';
import { credentialsChangedAt } from '../config/credentials.ts';
import { StoppedError } from '../errors.ts';
import { createEvents, type Listener } from '../events.ts';
import type { Log } from '../log.ts';
import { openHeartbeat } from '../observe/heartbeat.ts';
import { createCopyProcess } from '../outputs/publish-copy.ts';
import { REAL_SYSTEM } from '../service/connection.ts';
import type { LockCommand } from '../store/worker-lock.ts';
import { describeReport, fieldsOf, type RunReport } from '../sync/report.ts';
import type { RunDeps } from '../sync/run.ts';
import { isPipe } from '../terminal/style.ts';
import { systemClock } from '../time/clock.ts';
import { logNewFindings } from '../worker/drift-log.ts';
import { type OpenOptions, openWorker } from '../worker/open-resources.ts';
import { createLoginLog } from '../worker/run-log.ts';
import type { ProcessIO } from './command.ts';
import { startProgress } from './progress.ts';

/** Loads the settings and prints the warnings about them. Rejects with a SettingsError if a setting is invalid. */
export async function loadOneShotConfig(io: ProcessIO): Promise<Config> {
  const config = loadConfig(io.settings(), io.environment);
  for (const warning of config.warnings) io.warn(warning);
  return config;
}

/** The time (ms) since which a login may be sent, even if earlier ones failed: at a terminal, always. */
export function loginDueSince(io: ProcessIO): number {
  const isAttended = !isPipe(io.terminal) || !isPipe(io.errorTerminal);
  return isAttended ? Number.POSITIVE_INFINITY : credentialsChangedAt(io.settings());
}

type OneShot<T> = Pick<OpenOptions, 'serviceMoved'> & {
  readonly command: LockCommand;
  readonly poll: (deps: RunDeps) => Promise<T>;
};

/** Polls once, and resolves when the lock is released. Rejects with the error of a failed run, which `main` then prints. */
export async function pollOnce<T extends { readonly report: RunReport }>(
  io: ProcessIO,
  config: Config,
  oneShot: OneShot<T>,
): Promise<T> {
  const { result, copy } = await runPoll(io, config, oneShot);
  const { report } = result;
  if (report.error !== undefined) throw report.error;
  await io.closeLogs();
  if (io.stop.aborted)
    throw new StoppedError(
      report.outcome === 'interrupted'
        ? 'nothing was written except the interrupted run'
        : `the poll had ended: ${describeReport(report)}`,
    );
  const why = copy?.lastError() ?? null;
  if (why !== null) io.warn({ message: `the published copy could not be made: ${why}` });
  return result;
}

async function runPoll<T>(io: ProcessIO, config: Config, { poll, ...opening }: OneShot<T>) {
  const { pid, stop: signal } = io;
  // By default, logs only warnings and errors, since the result on stdout says what the command did.
  const isLevelSet = io.settings().values.LEAGUE_SYNC_LOG_LEVEL !== undefined;
  const log = await io.openLog(isLevelSet ? config.log : { ...config.log, level: 'warn' }, 2);
  const { emit, subscribe } = createEvents(log);
  using progress = startProgress(io, 'opening the database');
  subscribe(progress.onEvent);
  // The heartbeat is opened before the database, so that it is disposed of after the database is closed.
  await using heartbeat = openHeartbeat(config, { ...REAL_SYSTEM, log });
  const mayLogInSince = loginDueSince(io);
  const options = { system: REAL_SYSTEM, log, pid, signal, firstReason: 'manual', mayLogInSince, emit } as const;
  await using resources = await openWorker(config, { ...options, copy: createCopyProcess(io), ...opening });
  const { deps, copy } = resources;
  subscribe(createOneShotLog(log, deps.scrub), heartbeat?.onEvent, copy?.onEvent);
  const result = await poll(deps);
  if (copy?.isDue()) await copy.attempt(signal, signal);
  return { result, copy };
}

/** Skips failed logins and logs failed polls at level info, since `main` prints the error as the last line. */
function createOneShotLog(log: Log, scrub: (text: string) => string): Listener {
  const logLogin = createLoginLog(log, systemClock);
  return (event) => {
    if (event.type === 'login' && event.login.outcome === 'ok') logLogin(event.login);
    if (event.type !== 'runEnded') return;
    log.info(fieldsOf(event.report), describeReport(event.report));
    logNewFindings(log, event.report, scrub);
  };
}
