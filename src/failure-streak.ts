import { RunError } from './errors.ts';
import type { Log } from './log.ts';
import { plural } from './terminal/text.ts';
import { type Clock, formatSecond } from './time/clock.ts';
import { formatDuration } from './time/duration.ts';

/** Counts consecutive failures of one thing, so that a lasting one is told once, and its end. `noun`: of what. */
export function createStreak(clock: Clock, noun: string) {
  const known = new Set<string>();
  let count = 0;
  let since = 0;
  let sinceMonotonic = 0;
  let lastMessage: string | undefined;
  return {
    /**
     * `isNew`: the first in the streak with its kind, status and fix of which `isTold` was true. `isRepeated`: same
     * message as the previous error.
     */
    add: (error: RunError, isTold = true) => {
      if (count === 0) [since, sinceMonotonic] = [clock.now(), clock.monotonic()];
      count += 1;
      // If a backoff or the time limit of a run caused the error, the original error is its `cause`.
      const { kind, httpStatus, fix } = error.cause instanceof RunError ? error.cause : error;
      const fingerprint = JSON.stringify([kind, httpStatus, fix]);
      const result = { isNew: !known.has(fingerprint), isRepeated: error.message === lastMessage };
      if (isTold) known.add(fingerprint);
      lastMessage = error.message;
      return result;
    },
    count: () => count,
    describe: () => `${plural(count, noun)} since ${formatSecond(since)}`,
    /** Ends the streak. Returns a suffix for the message that logs the recovery; empty if no failure was told. */
    end: (): string => {
      if (count === 0) return '';
      const took = formatDuration(clock.monotonic() - sinceMonotonic);
      const suffix = known.size === 0 ? '' : `; recovered after ${plural(count, noun)} in ${took}`;
      known.clear();
      count = 0;
      lastMessage = undefined;
      return suffix;
    },
  };
}

/** Logs a lasting failure of an output once for each sort of error, and its end once. */
export function createVoice(log: Log, clock: Clock, levelOfRepeats: 'info' | 'debug' = 'info') {
  const streak = createStreak(clock, 'failed attempt');
  return {
    failed: (error: RunError, line: object, text: string): void =>
      log[streak.add(error).isNew ? 'warn' : levelOfRepeats]({ ...line, err: error }, text),
    /** `output`: such as `the mirror at db.example.com`. `wasFailing`: also an earlier worker may have said so. */
    worked: (line: object, output: string, wasFailing = streak.count() > 0): void => {
      const recovery = streak.end();
      if (wasFailing) log.info(line, `${output} works again${recovery}`);
    },
    /** Forgets the failures, so that the next one is a warning again. */
    forget: (): unknown => streak.end(),
  };
}
