import { EXIT, type Problem, StoppedError } from '../errors.ts';
import { remainingMs } from '../http/retry-after.ts';
import { readOverview } from '../store/queries/overview.ts';
import { type PollRequest, readPollProgress, requestPoll, withdrawPoll } from '../store/tables/poll-requests.ts';
import { readLockStatus } from '../store/worker-lock.ts';
import { formatSecond, systemClock } from '../time/clock.ts';
import type { Command, ProcessIO } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';
import { printResult } from './poll-result.ts';
import { startProgress } from './progress.ts';

/** How long (ms) the worker may take to read the request, and then to begin the poll. */
const MAX_WAIT_MS = 30_000;
const LOOK_EVERY_MS = 200;

type FulfillingRun = NonNullable<ReturnType<typeof readPollProgress>['run']>;

/** Asks the worker to poll now, through the database, and waits for a poll that begins after that. */
export const poll: Command<DatabaseOption> = async (io, option) => {
  const path = findDatabase(io, option);
  const refusal = findRefusal(path) ?? findPause(path);
  if (refusal !== undefined) return refuse(io, refusal);
  const request = await requestPoll(path, { clock: systemClock, stop: io.stop });
  const result = await waitForRun(path, request, io);
  return 'fix' in result ? refuse(io, result) : report(io, result);
};

async function refuse(io: ProcessIO, reason: Problem): Promise<number> {
  io.warn(reason);
  return EXIT.failed;
}

/** Why no worker would poll; undefined if one may be running. */
function findRefusal(path: string): Problem | undefined {
  const worker = readLockStatus(path);
  const fix = 'start one with league-sync run, or poll once with league-sync sync';
  if (worker.state === 'none') return { message: `no worker runs on ${path}`, fix };
  const { command, pid, host } = worker.holder ?? {};
  if (command !== 'sync' && command !== 'profile') return undefined;
  const message = `no worker runs on ${path}: league-sync ${command} (process ${pid} on ${host}) holds it`;
  return { message, fix: 'wait until it has ended' };
}

function findPause(path: string): Problem | undefined {
  const now = systemClock.now();
  const waitMs = remainingMs(readOverview(path).last_retry_after, now);
  if (waitMs === 0) return undefined;
  const message = `the service asked not to be called before ${formatSecond(now + waitMs)} (Retry-After)`;
  return { message, fix: 'nothing to do: the worker polls then' };
}

async function waitForRun(path: string, request: PollRequest, io: ProcessIO): Promise<FulfillingRun | Problem> {
  using progress = startProgress(io, 'waiting for the worker to begin');
  let waitingSince = systemClock.monotonic();
  for (;;) {
    const { run, isPending, isRunning } = readPollProgress(path, request);
    if (run !== undefined) return run;
    // A poll that goes on obeys a Retry-After by itself.
    const stopped = isPending ? undefined : (findRefusal(path) ?? (isRunning ? undefined : findPause(path)));
    if (stopped !== undefined) return stopped;
    if (isRunning && !isPending) {
      waitingSince = systemClock.monotonic();
      progress.say('the worker polls');
    }
    if (systemClock.monotonic() - waitingSince > MAX_WAIT_MS) {
      if (!isPending) return { message: 'the worker has not begun to poll', fix: 'look at its log' };
      if (await withdrawPoll(path, request, { clock: systemClock, stop: io.stop }))
        return {
          message: 'the worker did not take the request within 30 s, so it was withdrawn',
          fix: 'look at the log of the worker: it may hang, be of an older version, or use another file',
        };
      waitingSince = systemClock.monotonic();
    }
    await systemClock.sleep(LOOK_EVERY_MS, io.stop).catch(() => {
      throw new StoppedError('the worker polls all the same');
    });
  }
}

async function report(io: ProcessIO, run: FulfillingRun): Promise<number> {
  const { outcome, error_kind: kind, error_message: message, http_status, started_at, finished_at } = run;
  if (outcome === 'failed') {
    io.warn({ message: message ?? 'The poll failed.' });
    return kind === 'credentials' || kind === 'database' ? EXIT[kind] : EXIT.failed;
  }
  if (outcome === 'running' || outcome === 'interrupted')
    return refuse(io, { message: 'the worker stopped during the poll', fix: 'start it again' });
  const durationMs = Date.parse(finished_at ?? '') - Date.parse(started_at);
  const httpStatus = http_status ?? undefined;
  return printResult(io, { kind: 'leagues', outcome, counts: run, durationMs, httpStatus });
}
