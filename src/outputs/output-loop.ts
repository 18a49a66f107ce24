import { KilledError, RefusedError, type RunError, toRunError } from '../errors.ts';
import type { WorkerEvent } from '../events.ts';
import { createVoice } from '../failure-streak.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import { NOTHING_DONE, type OutputName, type OutputRow, WELL } from '../store/tables/outputs.ts';
import { type Clock, createWakeableLoop, formatTimestamp } from '../time/clock.ts';
import { formatDuration } from '../time/duration.ts';

/** What is brought to the state of the database, unlike the webhook, which sends each change. Times are in ms. */
export type Output = {
  readonly name: OutputName;
  /** For the log, such as `the mirror`. */
  readonly title: string;
  /** Where it leads; holds no secret. Throws a SettingsError. */
  readonly label: () => string;
  /** How often it is brought up to date although no news are known. */
  readonly everyMs: number;
  /** How old `outputs.done_at` may be, so that the row is not written each time. */
  readonly recordEveryMs: number;
  readonly retryMs: (failures: number) => number;
  /** In how long the first attempt is due; by default at once. */
  readonly dueInMs?: (doneAt: string | null) => number;
  readonly isWokenBy: (event: WorkerEvent, isFailing: boolean) => boolean;
  /** Calls `reach` with each `seq` reached. Resolves to what is wrong; rejects with a RunError or a SettingsError. */
  readonly step: (signal: AbortSignal, reach: (seq: number) => void) => Promise<string | undefined>;
};

type FollowDeps = {
  readonly store: Pick<Store, 'write' | 'read' | 'outputs'>;
  readonly clock: Clock;
  readonly log: Log;
};

export type Follower = Awaited<ReturnType<typeof openFollower>>;

/**
 * Keeps an output up to date. Polls never wait for it or fail because of it, and a failing database does not stop it.
 * Adds the row of the output, or takes over what an earlier worker has stored in it.
 */
export async function openFollower(output: Output, { store, clock, log }: FollowDeps, signal: AbortSignal) {
  const { name, title } = output;
  const loop = createWakeableLoop(clock);
  const voice = createVoice(log, clock);
  let isWanted = false;
  let isStored = true;
  /** What the row in `outputs` should be. */
  const label = output.label();
  let row: OutputRow = await store.write(() => store.outputs.open(name, label), signal);

  const firstWaitMs = (): number => (row.failed_attempts > 0 ? 0 : (output.dueInMs?.(row.done_at) ?? 0));
  /** If the row cannot be written now, it is written after the next step. */
  const put = async (values: Partial<OutputRow>): Promise<void> => {
    row = { ...row, ...values };
    const written = store.write(() => store.outputs.update(name, row));
    isStored = await written.then(
      () => true,
      () => false,
    );
  };
  const succeed = async (note: string | null): Promise<void> => {
    const now = clock.now();
    const line = { output: name, label: row.label, seq: row.seq };
    log.debug(line, `${title} at ${row.label} is up to date`);
    voice.worked(line, `${title} at ${row.label}`, row.failed_attempts > 0);
    const isNote = note !== row.last_error || row.failed_attempts > 0;
    if (note !== null && isNote) log.warn(line, `${title} at ${row.label}: ${note}`);
    const isOld = row.done_at === null || now - Date.parse(row.done_at) >= output.recordEveryMs;
    if (isOld || isNote || !isStored) await put({ ...WELL, last_error: note, done_at: formatTimestamp(now) });
  };
  const fail = async (error: RunError): Promise<number> => {
    const failed_attempts = row.failed_attempts + 1;
    const [now, waitMs] = [clock.now(), output.retryMs(failed_attempts)];
    const line = { output: name, label: row.label, failures: failed_attempts };
    voice.failed(error, line, `${error.message} The next attempt is in ${formatDuration(waitMs)}; polls continue`);
    await put({
      failed_attempts,
      failing_since: row.failing_since ?? formatTimestamp(now),
      last_error: error.message,
      next_attempt_at: formatTimestamp(now + waitMs),
      refused: error instanceof RefusedError,
    });
    return waitMs;
  };
  const attempt = async (stop: AbortSignal, end: AbortSignal): Promise<number> => {
    isWanted = false;
    const begun = clock.monotonic();
    try {
      const label = output.label();
      if (label !== row.label) {
        row = { ...row, ...NOTHING_DONE, label };
        voice.forget();
      }
      const note = await output.step(end, (seq) => {
        if (seq !== row.seq) void put({ seq });
      });
      await succeed(note ?? null);
      return Math.max(0, output.everyMs - (clock.monotonic() - begun));
    } catch (error) {
      // Not a failure: a stop ended the step, or killed its process together with the worker (systemd).
      if (end.aborted || (stop.aborted && error instanceof KilledError)) return 0;
      return await fail(toRunError(error));
    }
  };
  return {
    onEvent: (event: WorkerEvent): void => {
      if (!output.isWokenBy(event, row.failed_attempts > 0)) return;
      isWanted = true;
      loop.wake();
    },
    /** Ends the wait before the next attempt. */
    retryNow: (): void => loop.wake(),
    /** Whether an attempt is due in a command that makes only one. */
    isDue: (): boolean => isWanted || firstWaitMs() === 0,
    /** Makes an attempt; resolves to how long to wait before the next one, in ms. Never rejects. */
    attempt,
    lastError: (): string | null => row.last_error,
    /** Makes attempts until `stop`, and the last that was asked for until then; `end` ends it at once. Never rejects. */
    follow: (stop: AbortSignal, end: AbortSignal): Promise<void> => {
      const isOver = (): boolean => end.aborted || (stop.aborted && !isWanted);
      return loop.repeat(firstWaitMs(), () => attempt(stop, end), stop, isOver);
    },
  };
}
