import type { Listener } from '../events.ts';
import type { Clock } from '../time/clock.ts';

/** `at` and `staleAt` are by the wall clock, the others by the monotonic clock. */
type Success = {
  readonly at: number;
  readonly staleAt: number;
  readonly monotonicAt: number;
  readonly monotonicStaleAt: number;
};

/** What the database knows of the last good poll of the leagues. */
type Stored = { readonly last_success_at: string | null; readonly stale_at: string | null };

export type Staleness = ReturnType<typeof createStaleness>;

/**
 * Judges for the whole worker whether the leagues are stale. The monotonic clock counts, too: setting the clock back
 * does not make data younger. What is read from the file alone, such as the view `attention`, knows only the wall clock.
 */
export function createStaleness(clock: Clock) {
  let success: Success | undefined;
  const succeed = (finishedAt: string, staleAtText: string | null): void => {
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    const at = Date.parse(finishedAt);
    const staleAt = staleAtText === null ? Number.POSITIVE_INFINITY : Date.parse(staleAtText);
    // If the clock was set back after the poll, both timestamps lie in the future.
    const leftMs = staleAt - (at > now && staleAt > at ? at : now);
    const monotonicAt = monotonic - Math.max(0, now - at);
    success = { at, staleAt, monotonicAt, monotonicStaleAt: monotonic + leftMs };
  };
  const onEvent: Listener = (event) => {
    if (event.type !== 'runEnded') return;
    const { kind, finishedAt, staleAt } = event.report;
    if (kind === 'leagues' && finishedAt !== undefined) succeed(finishedAt, staleAt ?? null);
  };
  return {
    open: ({ last_success_at, stale_at }: Stored): void => {
      if (last_success_at !== null) succeed(last_success_at, stale_at);
    },
    onEvent,
    /** True without a good poll. */
    isStale: (): boolean =>
      success === undefined || clock.now() >= success.staleAt || clock.monotonic() >= success.monotonicStaleAt,
    /** When (ms) the last good poll ended, and how old its data is; undefined without one. */
    lastSuccess: (): { readonly at: number; readonly ageMs: number } | undefined =>
      success && {
        at: success.at,
        ageMs: Math.max(clock.now() - success.at, clock.monotonic() - success.monotonicAt),
      },
  };
}
