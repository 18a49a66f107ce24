import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** A sandbox with its own network and PID namespace, so that no port is in use and no process outlives it. */
export type Room = Awaited<ReturnType<typeof openRoom>>;

/** The first process of a sandbox: it ends with its stdin, and so also when the process that opened it is killed. */
const HOLD = 'ip link set lo up && echo ready && exec cat';

/** Opens a sandbox with loopback and no other network. Needs root. */
export async function openRoom() {
  const keeper = spawn(
    'unshare',
    ['--net', '--pid', '--mount', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', HOLD],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = once(keeper, 'close');
  const ready = await Promise.race([once(keeper.stdout, 'data'), ended.then(() => undefined)]);
  if (ready === undefined) throw new Error('no network namespace could be made');
  return {
    /** The prefix that runs a command in the sandbox. */
    enter: ['nsenter', '--target', firstProcessOf(keeper), '--net', '--pid', '--mount'] as const,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      keeper.stdin.end();
      await ended;
    },
  };
}

function firstProcessOf({ pid }: ChildProcess): string {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
}
