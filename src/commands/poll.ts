import { hostname } from 'node:os';
import { codeOf, EXIT, type Problem } from '../errors.ts';
import { isProvenHolder, type LockOwner, readLockStatus } from '../store/lock.ts';
import { paragraph } from '../terminal/paragraph.ts';
import type { Command } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';

/** Asks the worker to poll now. Signals only a process that is provably the worker: SIGHUP ends most other programs. */
export const poll: Command<DatabaseOption> = async (io, option) => {
  const path = await findDatabase(io, option);
  const lock = readLockStatus(path, { host: hostname(), isAlive: io.isAlive });
  if (lock.state === 'none') return refuse(noWorker(path));
  const { holder } = lock;
  if (holder === undefined) return refuse(unreadableLock(path));
  const problem = findProblem(path, holder) ?? signal(holder.pid);
  if (problem !== undefined) return refuse(problem);
  await io.print(await paragraph(`asked the worker (process ${holder.pid}) to poll now`, io.terminal));
  return EXIT.done;

  async function refuse(reason: Problem): Promise<number> {
    await io.warn(reason);
    return EXIT.failed;
  }

  function signal(pid: number): Problem | undefined {
    try {
      io.hangUp(pid);
      return undefined;
    } catch (error) {
      if (codeOf(error) === 'ESRCH') return noWorker(path);
      if (codeOf(error) !== 'EPERM') throw error;
      return {
        message: `this user may not send a signal to the worker (process ${pid})`,
        fix: 'run this as the user of the worker, or as root',
      };
    }
  }
};

function findProblem(path: string, holder: LockOwner): Problem | undefined {
  const { pid, host, command } = holder;
  const fix = `where it runs: kill -HUP ${pid}, docker kill -s HUP CONTAINER, or systemctl reload league-sync`;
  if (command === undefined) {
    const message = `the worker (process ${pid} on ${host}) is of an older version, whose lock does not tell enough to signal it`;
    return { message, fix: `ask it ${fix}` };
  }
  if (command === 'sync' || command === 'profile') {
    const message = `no worker runs: league-sync ${command} (process ${pid} on ${host}) holds the database`;
    return { message, fix: 'wait until it has ended' };
  }
  if (isProvenHolder(path, holder)) return undefined;
  const message = `the worker (process ${pid} on ${host}) runs on another machine or in another container, so it gets no signal from here`;
  return { message, fix: `ask it ${fix}` };
}

function noWorker(path: string): Problem {
  return {
    message: `no worker runs on ${path}`,
    fix: 'start one with league-sync run, or poll once with league-sync sync',
  };
}

function unreadableLock(path: string): Problem {
  return {
    message: `the lock file ${path}.lock does not say which process is the worker`,
    fix: 'if one is starting, try again; otherwise give this user permission to read the file',
  };
}
