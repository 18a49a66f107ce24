import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Environment } from '../config/environment.ts';
import { CutShortError, codeOf, DatabaseError } from '../errors.ts';
import { partOf, type Replaceable, removeCopy } from '../store/copy.ts';

export type CopyOptions = {
  /** Over such a copy of the same database; otherwise nothing may be at `target`. */
  readonly replace?: Replaceable;
  /** Cuts the copying short. */
  readonly signal?: AbortSignal;
};

/**
 * Copies the database at `path` to `target` without stopping this process. Rejects with a DatabaseError (a CutShortError
 * where somebody else ended the copying), or with the signal's reason once it aborts; nothing is left of the copy then.
 */
export type Copy = (path: string, target: string, options: CopyOptions) => Promise<void>;

export type CopierOptions = {
  /** How this program is started: the executable and what comes before its own arguments. */
  readonly program: readonly string[];
  readonly environment: Environment;
};

/**
 * SQLite copies in one go that cannot be cut short, for seconds where the database is large, and looking at what is at
 * the target may hang with its disk. So a process of its own does all of it: it neither stops the event loop, nor can
 * keep this process from ending, nor touch the locks that this process has.
 */
export function createCopy({ program, environment }: CopierOptions): Copy {
  // The copying process needs no settings, least of all secrets.
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('LEAGUE_SYNC_')));
  return async (path, target, { replace, signal }) => {
    signal?.throwIfAborted();
    const part = replace === undefined ? undefined : partOf(target);
    const over = [...(part === undefined ? [] : ['--part', part]), ...(replace === 'published' ? ['--published'] : [])];
    const args = ['copy', ...over, '--', path, target];
    const { code, said } = await runToEnd([...program, ...args], env, signal);
    if (code === 0) return;
    if (code !== null) throw new DatabaseError(said);
    // What it has begun it removes itself, but not where it was killed.
    removeCopy(part ?? target);
    signal?.throwIfAborted();
    throw new CutShortError(`The copying of ${path} to ${target} was cut short from outside.`);
  };
}

type End = { readonly code: number | null; readonly said: string };

async function runToEnd(
  [executable = '', ...args]: readonly string[],
  env: Environment,
  signal: AbortSignal | undefined,
): Promise<End> {
  // In a group of its own, so that Ctrl-C at a terminal leaves the last copy the time that it is given.
  const child = spawn(executable, args, { env, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  signal?.addEventListener('abort', kill, { once: true });
  try {
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    return { code, said: said.replace(/^league-sync: /, '').trim() };
  } catch (cause) {
    throw new DatabaseError(`The process that copies could not be started (${codeOf(cause)}).`, { cause });
  } finally {
    signal?.removeEventListener('abort', kill);
  }
}
