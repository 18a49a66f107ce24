import { statSync } from 'node:fs';
import { DatabaseError, KilledError, type RunError } from '../errors.ts';
import { type Replaceable, removeCopy, tempPath } from '../store/atomic-copy.ts';
import { aboutFile } from '../store/database-error.ts';
import type { Clock } from '../time/clock.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { type ChildEnd, type Program, RESTART, runChild } from './child-process.ts';
import type { Output } from './output-loop.ts';

/**
 * Copies the database at `path` to `target`. `replace` says what kind of existing copy at `target` may be replaced;
 * without `replace`, `target` must not exist, and errors call it `name`. Rejects with a DatabaseError, a KilledError (if the copy process was
 * killed, but not because of `signal`) or the signal's reason. A failed copy leaves no partial file.
 */
export type CopyDatabase = (
  path: string,
  target: string,
  options: { readonly replace?: Replaceable; readonly name?: string; readonly signal: AbortSignal },
) => Promise<void>;

/**
 * Copies in a separate process, which can be killed. In this process, copying a large database would block the event
 * loop for seconds, and forever if the target's disk hangs. Moreover, copying begins by reading the header of the
 * database, which would drop this process's locks on it (see `readHeader`).
 */
export function createCopyProcess({ program, environment, pid }: Program): CopyDatabase {
  return async (path, target, { replace, name = target, signal }) => {
    const part = replace === undefined ? undefined : tempPath(target);
    const over = part === undefined ? [] : ['--part', part, '--replace', replace ?? ''];
    const command = [...program, 'copy', '--parent', String(pid), ...over, '--', path, target];
    const explain = ({ how, why, cause }: ChildEnd): RunError => {
      if (how !== 'killed')
        return new DatabaseError(`The process that copies the database failed (${why}).`, { cause, fix: RESTART });
      const what = `Copying ${path} to ${name} was interrupted: the copy process was killed.`;
      return new KilledError('database', false, what);
    };
    try {
      await runChild(command, { explain, environment, signal });
    } catch (error) {
      // A killed process leaves its unfinished copy behind.
      if (signal.aborted || error instanceof KilledError) removeCopy(part ?? target);
      throw error instanceof DatabaseError ? aboutFile(error, target, name) : error;
    }
  };
}

const MAX_AGE_MS = 3_600_000;
const RETRY_MS = 60_000;
const LONGEST_COPY_MS = 3_600_000;

type CopyOptions = {
  readonly path: string;
  readonly target: string;
  /** When a run last changed the data. */
  readonly changedAt: () => string | undefined;
  readonly copy: CopyDatabase;
  readonly clock: Clock;
};

/** The published copy of the database, for readers elsewhere. */
export function createCopyOutput({ path, target, changedAt, copy, clock }: CopyOptions): Output {
  return {
    name: 'copy',
    title: 'the published copy',
    label: () => target,
    everyMs: MAX_AGE_MS,
    recordEveryMs: 0,
    dueInMs: (doneAt) => {
      // NaN if the copy is missing or cannot be seen.
      const madeAt = tryOrUndefined(() => statSync(target).mtimeMs) ?? Number.NaN;
      const ageMs = clock.now() - madeAt;
      // In a database that was restored, `done_at` is from before the copy.
      const isCurrent = madeAt <= Date.parse(doneAt ?? '') && madeAt >= Date.parse(changedAt() ?? '1970-01-01');
      return isCurrent && ageMs >= 0 ? Math.max(0, MAX_AGE_MS - ageMs) : 0;
    },
    retryMs: () => RETRY_MS,
    isWokenBy: (event) => event.type === 'runEnded' && event.report.wrote,
    step: async (signal) => {
      const overtime = AbortSignal.timeout(LONGEST_COPY_MS);
      try {
        await copy(path, target, { replace: 'published', signal: AbortSignal.any([signal, overtime]) });
        return undefined;
      } catch (error) {
        throw overtime.aborted ? new DatabaseError(`Copying ${path} to ${target} took too long.`) : error;
      }
    },
  };
}
