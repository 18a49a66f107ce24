import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Environment } from '../config/environment.ts';
import { DatabaseError } from '../errors.ts';

/**
 * Copies the database at `path` to `target`, which must not exist, without stopping this process. Rejects with a
 * DatabaseError, or with the signal's reason as soon as it aborts; nothing is left at `target` then.
 */
export type Copy = (path: string, target: string, signal?: AbortSignal) => Promise<void>;

export type CopierOptions = {
  /** How this program is started: the executable and what comes before its own arguments. */
  readonly program: readonly string[];
  readonly environment: Environment;
};

/**
 * SQLite copies in one go that cannot be cut short, for seconds where the database is large. So a process of its own
 * does it: it neither stops the event loop nor can keep this process from ending.
 */
export function createCopy({ program: [executable = '', ...before], environment }: CopierOptions): Copy {
  // The copying process needs no settings, least of all secrets.
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('LEAGUE_SYNC_')));
  return async (path, target, signal) => {
    signal?.throwIfAborted();
    const child = spawn(executable, [...before, 'copy', path, target], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const kill = (): void => {
      child.kill('SIGKILL');
    };
    signal?.addEventListener('abort', kill, { once: true });
    try {
      const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
      if (code === 0) return;
      rmSync(target, { force: true });
      signal?.throwIfAborted();
      throw new DatabaseError(describe(said, path, target));
    } finally {
      signal?.removeEventListener('abort', kill);
    }
  };
}

function describe(said: string, path: string, target: string): string {
  const message = said.replace(/^league-sync: /, '').trim();
  return message === '' ? `The copy of ${path} to ${target} was cut short from outside; try again.` : message;
}
