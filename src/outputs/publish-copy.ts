import { statSync } from 'node:fs';
import { DatabaseError } from '../errors.ts';
import type { Clock } from '../time/clock.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import type { CopyDatabase } from './copy-process.ts';
import type { Output } from './output-loop.ts';

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
