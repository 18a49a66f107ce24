import { formatInstant } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { RunTools } from '../sync/run.ts';

const PRUNE_EVERY_MS = 24 * 3_600_000;

/** Deletes the old rows of `runs` and `logins`. */
export type Pruning = { readonly look: () => void; readonly idle: () => Promise<void> };

/**
 * Deletes old rows of `runs` and `logins` at start and once a day. Not at a start that finds all of them old: a clock that
 * is far ahead must not cost the history.
 */
export function createPruning(
  { runRetentionMs }: Pick<Config, 'runRetentionMs'>,
  { store, clock }: Pick<RunTools, 'store' | 'clock'>,
  log: Log,
): Pruning {
  const newest = Date.parse(store.read(() => store.runs.lastStartedAt()) ?? formatInstant(clock.now()));
  let nextAt = Number.NEGATIVE_INFINITY;
  let pruning: Promise<void> = Promise.resolve();
  if (newest < clock.now() - runRetentionMs) {
    nextAt = clock.monotonic() + PRUNE_EVERY_MS;
    const last = formatInstant(newest);
    log.warn(
      { last_started_at: last },
      `no old runs are deleted today, since all are old, the last of ${last}: is the clock right?`,
    );
  }
  const prune = async (): Promise<void> => {
    const now = formatInstant(clock.now());
    const before = formatInstant(clock.now() - runRetentionMs);
    try {
      const deleted = await store.write(() => ({
        runs: store.runs.prune(before, now),
        logins: store.logins.prune(before),
      }));
      if (deleted.runs + deleted.logins > 0) log.info({ ...deleted, before }, 'old runs and logins were deleted');
    } catch (error) {
      log.warn({ err: toRunError(error) }, 'old runs could not be deleted; tried again tomorrow');
    }
  };
  return {
    look: () => {
      if (clock.monotonic() < nextAt) return;
      nextAt = clock.monotonic() + PRUNE_EVERY_MS;
      pruning = pruning.then(prune);
    },
    idle: () => pruning,
  };
}
