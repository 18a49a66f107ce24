import type { WorkerEvent } from '../events.ts';
import { systemClock } from '../time/clock.ts';
import { formatDuration } from '../time/duration.ts';
import type { ProcessIO } from './command.ts';

/** What takes less time (ms) is not worth a line. */
const SILENCE_MS = 500;
const REWRITE_MS = 200;

/** A function if the text changes by itself. */
type What = string | (() => string);

/** Says at a terminal what a command does, how far it is and what it waits for. Disposing removes the line. */
export function startProgress({ showProgress }: Pick<ProcessIO, 'showProgress'>, first: What) {
  let quietSince = systemClock.monotonic();
  let [what, attempt] = [first, ''];
  const show = (atOnce = false): void => {
    if (atOnce || systemClock.monotonic() - quietSince >= SILENCE_MS)
      showProgress?.(typeof what === 'string' ? what : what());
  };
  /** Does not leave it to the timer, which does not fire during a transaction; `atOnce` also if it is early. */
  const say = (next: What, atOnce = false): void => {
    what = next;
    show(atOnce);
  };
  const timer = showProgress && setInterval(show, REWRITE_MS);
  return {
    say,
    onEvent: (event: WorkerEvent): void => {
      if (event.type !== 'progress') return;
      if ('attempt' in event) {
        attempt = event.attempt;
        return;
      }
      const { what: told, limit } = event;
      const seconds = ({ since }: NonNullable<typeof limit>) => Math.floor((systemClock.monotonic() - since) / 1_000);
      say(limit ? () => `${told}, ${seconds(limit)} s of ${formatDuration(limit.ms)}, ${attempt}` : told);
    },
    /** Call it when a part of the result was printed: the next one may take as long before anything is said. */
    rest: (): void => {
      quietSince = systemClock.monotonic();
    },
    [Symbol.dispose]: (): void => {
      clearInterval(timer);
      showProgress?.('');
    },
  };
}
