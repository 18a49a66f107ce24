import { type Clock, formatSecond } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import { RunError } from '../errors.ts';

/** How an occurrence is logged: `new` with everything, `reminder` with how many there were, `known` in a few words. */
export type Loudness = 'new' | 'reminder' | 'known';

/** What happens several times in a row, such as failed polls, and how the log tells each of them. */
export type Streak = {
  /** Counts one more. A fingerprint that the streak has not had yet is `new`. */
  readonly add: (fingerprint: string) => Loudness;
  readonly count: () => number;
  /** How many there have been and since when, in words. */
  readonly describe: () => string;
  /** Ends the streak. Gives how many there were and how long it took, in words, if there were any. */
  readonly end: () => string | undefined;
};

/** From one mention to the next; the last interval repeats. */
const INTERVALS_MS = [5 * 60_000, 15 * 60_000, 3_600_000] as const;

type State = {
  readonly at: number;
  readonly monotonicAt: number;
  readonly known: Set<string>;
  count: number;
  /** Since the last new fingerprint. */
  mentions: number;
  mentionedAt: number;
};

/** `noun` is one of what is counted, such as `failed poll`. */
export function createStreak(clock: Clock, noun: string): Streak {
  let state: State | undefined;
  const inWords = (count: number): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
  return {
    add: (fingerprint) => {
      state ??= begin(clock);
      state.count += 1;
      return classify(state, fingerprint, clock.monotonic());
    },
    count: () => state?.count ?? 0,
    describe: () => (state === undefined ? inWords(0) : `${inWords(state.count)} since ${formatSecond(state.at)}`),
    end: () => {
      if (state === undefined) return undefined;
      const { count, monotonicAt } = state;
      state = undefined;
      return `${inWords(count)} in ${formatDuration(clock.monotonic() - monotonicAt)}`;
    },
  };
}

function begin(clock: Clock): State {
  const monotonicAt = clock.monotonic();
  return { at: clock.now(), monotonicAt, known: new Set(), count: 0, mentions: 0, mentionedAt: monotonicAt };
}

function classify(state: State, fingerprint: string, now: number): Loudness {
  const isNew = !state.known.has(fingerprint);
  const interval = INTERVALS_MS[Math.min(state.mentions, INTERVALS_MS.length) - 1] ?? 0;
  if (!isNew && now - state.mentionedAt < interval) return 'known';
  state.known.add(fingerprint);
  state.mentions = isNew ? 1 : state.mentions + 1;
  state.mentionedAt = now;
  return isNew ? 'new' : 'reminder';
}

/** Tells kinds of failures apart. An error that stands for an earlier one, as during a backoff, counts as that one. */
export function fingerprintOf(error: RunError): string {
  const { kind, httpStatus, fix } = error.cause instanceof RunError ? error.cause : error;
  return JSON.stringify([kind, httpStatus, fix]);
}
