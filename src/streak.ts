import { type Clock, formatSecond } from './clock.ts';
import { formatDuration } from './duration.ts';
import { RunError } from './errors.ts';

/**
 * How loudly what happened again is told: `new` with everything, `reminder` with how often it has happened, `known` in a
 * word, since it was told lately.
 */
export type Loudness = 'new' | 'reminder' | 'known';

/** What goes wrong several times in a row, such as polls that fail, and when the log is to say so. */
export type Streak = {
  /** Counts one more, of this sort, whose first word is its kind. */
  readonly add: (sort: string) => Loudness;
  readonly count: () => number;
  /** How many there have been and since when, in words. */
  readonly describe: () => string;
  /** It is over: what comes next is new. Gives how many there were and how long it took, in words, if there were any. */
  readonly end: () => string | undefined;
};

/** From one mention of what goes on to the next; the last interval repeats. */
const INTERVALS_MS = [5 * 60_000, 15 * 60_000, 3_600_000] as const;
/** Of each kind: a service whose every answer reads differently must not have each of them told. */
const MOST_KNOWN = 20;

type State = {
  readonly at: number;
  readonly monotonicAt: number;
  readonly known: Set<string>;
  count: number;
  /** Since the last new sort. */
  mentions: number;
  mentionedAt: number;
};

/** `noun` is one of what is counted, such as `failed poll`. */
export function createStreak(clock: Clock, noun: string): Streak {
  let state: State | undefined;
  const inWords = (count: number): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
  return {
    add: (sort) => {
      state ??= begin(clock);
      state.count += 1;
      return tell(state, sort, clock.monotonic());
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

function tell(state: State, sort: string, now: number): Loudness {
  const kind = sort.split(' ')[0] ?? '';
  const alike = [...state.known].filter((known) => known.startsWith(`${kind} `)).length;
  const isNew = !state.known.has(sort) && alike < MOST_KNOWN;
  const interval = INTERVALS_MS[Math.min(state.mentions, INTERVALS_MS.length) - 1] ?? 0;
  if (!isNew && now - state.mentionedAt < interval) return 'known';
  if (isNew) state.known.add(sort);
  state.mentions = isNew ? 1 : state.mentions + 1;
  state.mentionedAt = now;
  return isNew ? 'new' : 'reminder';
}

/**
 * What tells a failure from another one: its kind, and its message but for numbers and the words that hold some. One
 * that stands for an earlier one, as while a refused login has to wait, is of that one's sort.
 */
export function sortOf({ kind, cause, httpStatus, message }: RunError): string {
  const origin = cause instanceof RunError ? cause.message : message;
  return `${kind} ${httpStatus ?? ''} ${origin.replace(/\S*\d\S*/g, '#')}`;
}
