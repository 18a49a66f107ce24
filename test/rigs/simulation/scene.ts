import type { Row } from '../../support/database.ts';
import type { Past } from './past.ts';
import type { World } from './service.ts';

/** What each judge is given. Times are in elapsed ms, unless they are said to be of the wall clock. */
export type Scene = {
  readonly world: World;
  readonly past: Past;
  readonly elapsed: () => number;
  /** By the wall clock. */
  readonly now: () => number;
  readonly note: (text: string) => unknown;
  readonly fail: (text: string) => void;
  /** Asks the database of the current life, or another. */
  readonly rows: (sql: string, path?: string) => readonly Row[];
  /** How much longer than it should a short sleep may last. */
  readonly slackMs: number;
  /** By how much something may come late that comes at once if all is well. */
  readonly longestWaitMs: number;
};

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** How long a run may take, with all of its attempts. */
export const RUN_TIMEOUT_MS = 2 * MINUTE_MS;
/** How long a fault that denies access may have an effect. */
export const DENIAL_MS = 2 * HOUR_MS;
/** How old a request for a poll may be that a worker sees. */
export const REQUEST_MS = 30_000;
export const GOOD = ['changed', 'unchanged', 'held'];

/** The least wait (ms) after so many refusals in a row: a minute, doubling to an hour. */
export function refusalWaitMs(count: number): number {
  return Math.min(MINUTE_MS * 2 ** (count - 1), HOUR_MS) - 1_000;
}
