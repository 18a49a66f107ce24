import { DatabaseError, KilledError, type RunError } from '../errors.ts';
import { type Replaceable, removeCopy, tempPath } from '../store/copy-database.ts';
import { type ChildEnd, type Program, RESTART, runChild } from './child-process.ts';

/**
 * Copies the database at `path` to `target`. `replace` says what kind of existing copy at `target` may be replaced;
 * without `replace`, `target` must not exist. Rejects with a DatabaseError, a KilledError (if the copy process was
 * killed, but not because of `signal`) or the signal's reason. A failed copy leaves no partial file.
 */
export type CopyDatabase = (
  path: string,
  target: string,
  options: { readonly replace?: Replaceable; readonly signal: AbortSignal },
) => Promise<void>;

/**
 * Copies in a separate process, which can be killed. In this process, copying a large database would block the event
 * loop for seconds, and forever if the target's disk hangs. Moreover, copying begins by reading the header of the
 * database, which would drop this process's locks on it (see `readHeader`).
 */
export function createCopyProcess({ program, environment, pid }: Program): CopyDatabase {
  return async (path, target, { replace, signal }) => {
    const part = replace === undefined ? undefined : tempPath(target);
    const over = part === undefined ? [] : ['--part', part, '--replace', replace ?? ''];
    const command = [...program, 'copy', '--parent', String(pid), ...over, '--', path, target];
    const explain = ({ how, why, cause }: ChildEnd): RunError => {
      if (how !== 'killed')
        return new DatabaseError(`The process that copies the database failed (${why}).`, { cause, fix: RESTART });
      const what = `Copying ${path} to ${target} was interrupted: the copy process was killed.`;
      return new KilledError('database', false, what);
    };
    try {
      await runChild(command, { explain, environment, signal });
    } catch (error) {
      // A killed process leaves its unfinished copy behind.
      if (signal.aborted || error instanceof KilledError) removeCopy(part ?? target);
      throw error;
    }
  };
}
