import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { leaveNoOrphan } from './orphan.ts';
import { PROGRAM } from './program.ts';

export type Poll = {
  readonly outcome: string;
  /** Bytes of the line in the log that tells of it. */
  readonly lineBytes: number;
};

/** The worker as it ships. */
export type Worker = AsyncDisposable & {
  readonly pid: number;
  /** Ms since the epoch. */
  readonly spawnedAt: number;
  /** The first line of its log that fits, waited for. */
  readonly line: (fits: (line: string) => boolean) => Promise<string>;
  /** Where its page is. */
  readonly url: () => Promise<string>;
  /** Settles when the polls of its start, leagues and profile, are recorded. */
  readonly started: () => Promise<void>;
  /** Has it poll (SIGHUP), and settles when the poll is recorded. */
  readonly poll: () => Promise<Poll>;
};

type Options = { readonly folder: string; readonly env: Readonly<Record<string, string>> };

/** Far longer than any poll takes: past it the worker is stuck, and there is nothing to measure. */
const PATIENCE_MS = 120_000;
const LOOK_MS = 5;

export function startWorker({ folder, env }: Options): Worker {
  const spawnedAt = performance.timeOrigin + performance.now();
  const child = spawn(process.execPath, [PROGRAM, 'run'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('the worker could not be started');
  const ended = once(child, 'exit');
  const guard = leaveNoOrphan(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));

  const lineFrom = async (from: number, fits: (line: string) => boolean): Promise<string> => {
    for (const giveUpAt = Date.now() + PATIENCE_MS; Date.now() < giveUpAt; await sleep(LOOK_MS)) {
      const found = lines.slice(from).find(fits);
      if (found !== undefined) return found;
      if (child.exitCode !== null) break;
    }
    throw new Error(`the worker did not say what was waited for:\n${lines.slice(-5).join('\n')}`);
  };
  const line = (fits: (line: string) => boolean): Promise<string> => lineFrom(0, fits);

  return {
    pid,
    spawnedAt,
    line,
    url: async () => (JSON.parse(await line((text) => text.includes('"url"'))) as { url: string }).url,
    started: async () => {
      await line((text) => isRun(text, 'leagues'));
      await line((text) => isRun(text, 'profile'));
    },
    poll: async () => {
      const from = lines.length;
      process.kill(pid, 'SIGHUP');
      const text = await lineFrom(from, (text) => isRun(text, 'leagues'));
      const { outcome = 'skipped' } = JSON.parse(text) as { outcome?: string };
      return { outcome, lineBytes: Buffer.byteLength(text) + 1 };
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
      guard[Symbol.dispose]();
    },
  };
}

/** Of a run, or of a slot that was skipped. */
function isRun(line: string, kind: 'leagues' | 'profile'): boolean {
  return line.includes(`"kind":"${kind}","trigger"`);
}
