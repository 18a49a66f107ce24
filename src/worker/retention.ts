import { toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import { yieldToEventLoop } from '../race-abort.ts';
import type { RunDeps } from '../sync/run.ts';
import { formatTimestamp } from '../time/clock.ts';

const PRUNE_EVERY_MS = 24 * 3_600_000;

/** Deletes old runs and logins daily; a day later once even the newest run is old, as the clock may be wrong. */
export function createRetention(retentionMs: number, { store, clock }: Pick<RunDeps, 'store' | 'clock'>, log: Log) {
  let nextAt = Number.NEGATIVE_INFINITY;
  /** When the clock was last looked at, or the newest run started. */
  let seenAt = Date.parse(store.read(store.runs.lastStartedAt) ?? formatTimestamp(clock.now()));
  const waitIfClockJumped = (): void => {
    const before = seenAt;
    seenAt = clock.now();
    if (before >= seenAt - retentionMs) return;
    nextAt = clock.monotonic() + PRUNE_EVERY_MS;
    const last = formatTimestamp(before);
    log.warn({ last }, `no runs are deleted today, because even the newest is old (${last}); check the clock`);
  };
  let pruning: Promise<void> = Promise.resolve();
  let isEnding = false;
  const pruneTable = async (table: 'logins' | 'runs', before: string, now: string): Promise<number> => {
    let total = 0;
    for (let after: number | undefined = 0; after !== undefined && !isEnding; ) {
      const from: number = after;
      const { deleted, next } = await store.write(() => store.prune[table](from, before, now));
      total += deleted;
      after = next;
      await yieldToEventLoop();
    }
    return total;
  };
  const prune = async (): Promise<void> => {
    const now = formatTimestamp(clock.now());
    const before = formatTimestamp(clock.now() - retentionMs);
    try {
      const logins = await pruneTable('logins', before, now);
      const deleted = { runs: await pruneTable('runs', before, now), logins };
      if (deleted.runs + deleted.logins > 0) log.info({ ...deleted, before }, 'old runs and logins were deleted');
    } catch (error) {
      log.warn({ err: toRunError(error) }, 'old runs could not be deleted; the next attempt is tomorrow');
    }
  };
  return {
    tick: (): void => {
      waitIfClockJumped();
      if (clock.monotonic() < nextAt) return;
      nextAt = clock.monotonic() + PRUNE_EVERY_MS;
      pruning = pruning.then(prune);
    },
    /** Resolves once nothing is being deleted. */
    idle: (): Promise<void> => pruning,
    [Symbol.asyncDispose]: (): Promise<void> => {
      isEnding = true;
      return pruning;
    },
  };
}
