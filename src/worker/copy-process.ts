import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Environment } from '../config/environment.ts';
import { CopyKilledError, codeOf, DatabaseError, EXIT } from '../errors.ts';
import { type Replaceable, removeCopy, tempPath } from '../store/copy.ts';

/**
 * Copies the database at `path` to `target`. `replace` says what kind of existing copy at `target` may be replaced;
 * without `replace`, `target` must not exist. A published copy made since `keepSince` (ms) is kept. Rejects with a
 * DatabaseError (a CopyKilledError if the copy process was killed, but not because of `signal`) or the signal's reason.
 * A failed copy leaves no partial file.
 */
export type CopyDatabase = (
  path: string,
  target: string,
  options: { readonly replace?: Replaceable; readonly keepSince?: number; readonly signal: AbortSignal },
) => Promise<void>;

type Program = {
  /** The command that starts this program: executable, Node options and script. */
  readonly program: readonly string[];
  readonly environment: Environment;
  readonly pid: number;
};

/**
 * Copies in a separate process, which can be killed. In this process, copying a large database would block the event
 * loop for seconds, and forever if the target's disk hangs. Moreover, copying begins by reading the header of the
 * database, which would drop this process's locks on it (see `readHeader`).
 */
export function createCopyProcess({ program, environment, pid }: Program): CopyDatabase {
  // The copy process needs no settings, least of all secrets.
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('LEAGUE_SYNC_')));
  return async (path, target, { replace, keepSince = Number.POSITIVE_INFINITY, signal }) => {
    signal.throwIfAborted();
    const part = replace === undefined ? undefined : tempPath(target);
    const over = part === undefined ? [] : ['--part', part];
    if (replace === 'published') over.push('--keep-since', String(keepSince));
    const args = ['copy', '--parent', String(pid), ...over, '--', path, target];
    const { code, stderr } = await runToEnd([...program, ...args], env, signal);
    if (code === 0) return;
    const [, said = `exit code ${code}`] = /^league-sync: (.+)/m.exec(stderr) ?? [];
    if (code !== null) throw code === EXIT.database ? new DatabaseError(said) : failedError(said);
    // A killed process leaves its unfinished copy behind.
    removeCopy(part ?? target);
    signal.throwIfAborted();
    throw new CopyKilledError(`Copying ${path} to ${target} was interrupted: the copy process was killed.`);
  };
}

async function runToEnd([executable = '', ...args]: readonly string[], env: Environment, signal: AbortSignal) {
  // Detached, so that Ctrl-C does not kill the copy process, to which the publisher grants a grace period.
  const child = spawn(executable, args, { env, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const kill = (): unknown => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  try {
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    return { code: code as number | null, stderr };
  } catch (cause) {
    throw failedError(codeOf(cause), cause);
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

function failedError(why: string, cause?: unknown): DatabaseError {
  const fix = "restart league-sync if the program's files were replaced or removed while it ran";
  return new DatabaseError(`The process that copies the database failed (${why}).`, { cause, fix });
}
