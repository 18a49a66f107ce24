import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { leaveNoOrphan } from './timed.ts';

export const PROGRAM = join(import.meta.dirname, '../../dist/league-sync.cjs');

/** A schedule with one run, as far away as possible. */
const NEVER = '0 0 29 2 *';

/** Settings for a service and a database. Limits are raised so that nothing is refused for its size or duration. */
export function settingsFor(url: string, database: string): Readonly<Record<string, string>> {
  return {
    LEAGUE_SYNC_BASE_URL: url,
    LEAGUE_SYNC_USERNAME: 'player',
    LEAGUE_SYNC_PASSWORD: 'secret-password',
    LEAGUE_SYNC_DATABASE: database,
    LEAGUE_SYNC_LISTEN: '127.0.0.1:0',
    LEAGUE_SYNC_SCHEDULE: NEVER,
    LEAGUE_SYNC_PROFILE_SCHEDULE: NEVER,
    LEAGUE_SYNC_LOG_FORMAT: 'json',
    LEAGUE_SYNC_MAX_BODY: '1GB',
    LEAGUE_SYNC_ATTEMPT_TIMEOUT: '10m',
    LEAGUE_SYNC_RUN_TIMEOUT: '10m',
  };
}

export function databaseIn(folder: string): string {
  return join(folder, 'leagues.db');
}

export type Poll = {
  readonly outcome: string;
  /** As the log line says; 0 if it was skipped. */
  readonly durationMs: number;
  /** The length of the log line of the poll. */
  readonly lineBytes: number;
};

/** The worker as it ships. */
export type Worker = AsyncDisposable & {
  readonly pid: number;
  /** Ms since the epoch. */
  readonly spawnedAt: number;
  /** The URL of the status page. */
  readonly url: () => Promise<string>;
  /** Resolves when it can be asked for polls. */
  readonly ready: () => Promise<void>;
  /** Resolves when the polls at start, leagues and profile, are recorded. */
  readonly started: () => Promise<void>;
  /** Sends SIGHUP, and resolves when the poll is recorded. */
  readonly poll: () => Promise<Poll>;
};

/** Far longer than any poll takes: after it the worker counts as stuck. */
const PATIENCE_MS = 120_000;
const LOOK_MS = 5;

type Environment = Readonly<Record<string, string>>;

/** Starts a worker in a folder, which gets its database. */
export function startWorker(folder: string, url: string, env: Environment = {}): Worker {
  const spawnedAt = performance.timeOrigin + performance.now();
  const child = spawn(process.execPath, [PROGRAM, 'run'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, ...settingsFor(url, databaseIn(folder)), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('the worker could not be started');
  const ended = once(child, 'exit');
  const guard = leaveNoOrphan(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));

  /** Waits for the first log line that matches. */
  const lineWith = async (fits: (line: string) => boolean, from = 0): Promise<string> => {
    for (const giveUpAt = Date.now() + PATIENCE_MS; Date.now() < giveUpAt; await sleep(LOOK_MS)) {
      const found = lines.slice(from).find(fits);
      if (found !== undefined) return found;
      if (child.exitCode !== null) break;
    }
    throw new Error(`the worker did not say what was waited for:\n${lines.slice(-5).join('\n')}`);
  };

  return {
    pid,
    spawnedAt,
    url: async () => (JSON.parse(await lineWith((text) => text.includes('"url"'))) as { url: string }).url,
    ready: async () => void (await lineWith((text) => text.includes('worker started'))),
    started: async () => {
      await lineWith((text) => isRun(text, 'leagues'));
      await lineWith((text) => isRun(text, 'profile'));
    },
    poll: async () => {
      const from = lines.length;
      process.kill(pid, 'SIGHUP');
      const text = await lineWith((text) => isRun(text, 'leagues'), from);
      const { outcome = 'skipped', duration_ms = 0 } = JSON.parse(text) as { outcome?: string; duration_ms?: number };
      return { outcome, durationMs: duration_ms, lineBytes: Buffer.byteLength(text) + 1 };
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
      guard[Symbol.dispose]();
    },
  };
}

/** Whether the line is of a run or of a skipped run. */
function isRun(line: string, kind: 'leagues' | 'profile'): boolean {
  return line.includes(`"kind":"${kind}","trigger"`);
}
