import type { Config } from '../../../src/config/config.ts';
import type { Row } from '../../support/database.ts';
import { DENIAL_MS, type Scene } from './scene.ts';

const WHAT = {
  slot: 'a poll at its slot',
  profile: 'a poll of the profile',
  request: 'a poll that was asked for',
  pause: 'a poll after a pause',
  start: 'a poll at the start',
  login: 'a login for a person',
};
type Awaited = keyof typeof WHAT;
/** For so long after a step of the clock, a slot may be missed. */
const STEP_MS = 1_000;

export type AwaitedJudge = ReturnType<typeof createAwaitedJudge>;

/** What must come, and until when; forgotten once the life of the worker has ended. */
export function createAwaitedJudge({ world, past, fail, elapsed, now, longestWaitMs }: Scene) {
  const awaited = new Map<Awaited, number>();
  /** When the pause ends after which a poll must come. */
  let pausedUntil = 0;
  /** When the log said something of a poll last. */
  let lastLineAt = 0;
  /** Undefined if it is off. */
  let profile: Config['schedule'] | undefined;
  /** When a poll of the profile was told last, and is due next, by the wall clock. */
  let [profileAt, profileNext] = [0, Number.POSITIVE_INFINITY];
  /** Of this life, as no other is known to the worker for certain after a step of the clock. */
  const isPausing = (): boolean =>
    world.requests.some(({ at, pauseUntil = 0 }) => at >= past.lifeBegan && pauseUntil > elapsed());
  return {
    setSettings: (given: Config): void => {
      profile = given.profileSchedule === 'off' ? undefined : given.profileSchedule;
    },
    /** From now on, the worker has a few minutes for this. */
    await: (what: Awaited): void => {
      // A slot may be missed right after a step of the clock, and its poll may have begun.
      const isThere = what === 'slot' && Math.max(lastLineAt, (past.steps.at(-1) ?? 0) + STEP_MS) >= elapsed();
      if (!isThere && !awaited.has(what)) awaited.set(what, elapsed() + longestWaitMs);
    },
    awaitAfterPause: (until: number): void => {
      pausedUntil = until;
      awaited.set('pause', until + longestWaitMs);
    },
    /** Looks whether the profile is due; called while a worker runs. */
    awaitProfile: (): void => {
      if (profile === undefined) return;
      if (now() >= profileNext && profileAt < profileNext) awaited.set('profile', elapsed() + 2 * longestWaitMs);
      if (now() >= profileNext || profileNext === Number.POSITIVE_INFINITY) profileNext = profile.nextTime(now());
    },
    /** A login was sent. */
    noteLogin: (): unknown => awaited.delete('login'),
    /** A poll of the leagues has ended. */
    noteRun: (): void => {
      if (elapsed() >= pausedUntil) awaited.delete('pause');
    },
    /** Reads a line of the worker's log. */
    read: ({ kind, trigger, not_before }: Row): void => {
      if (not_before !== undefined && !past.mayBePaused(elapsed() - 1_000))
        fail('postponed, although no pause goes on');
      if (trigger === undefined) return;
      if (kind === 'profile') {
        profileAt = now();
        awaited.delete('profile');
      }
      if (kind !== 'leagues') return;
      lastLineAt = elapsed();
      awaited.delete('slot');
      if (trigger === 'start') awaited.delete('start');
      if (trigger === 'manual') awaited.delete('request');
    },
    /** The worker was stopped or killed, or the clock stepped. */
    endLife: (): void => {
      awaited.clear();
      profileNext = Number.POSITIVE_INFINITY;
    },
    judge: (): void => {
      const isDoubtful = past.steps.some((time) => time <= past.lifeBegan) && past.mayBePaused(past.lifeBegan);
      const pauseEnds = Math.max(...world.requests.map(({ pauseUntil = 0 }) => pauseUntil));
      for (const [what, until] of awaited) {
        const mayBeBlocked = what === 'pause' || what === 'profile';
        const isBlocked = isDoubtful || (mayBeBlocked && (elapsed() - past.deniedAt < DENIAL_MS || isPausing()));
        // The profile waits for a poll of the leagues, too.
        const afterPauseMs = (what === 'profile' ? 2 : 1) * longestWaitMs;
        if (elapsed() > Math.max(until, pauseEnds + afterPauseMs) && !isBlocked) fail(`${WHAT[what]} did not come`);
      }
    },
  };
}
