import type { Config } from '../../../src/config/config.ts';
import type { Row } from '../../support/database.ts';
import { isRejection } from './past.ts';
import type { Run } from './poll-judge.ts';
import { GOOD, MINUTE_MS, REQUEST_MS, type Scene } from './scene.ts';

/** How long before a poll that is no catch-up its slot may have been. */
const LATEST_MS = 5 * MINUTE_MS;
const MOST_UNREQUESTED = 3;

/** Whether each poll of the leagues has a reason: a slot, a slot that was missed, a start, a request. */
export function createTriggerJudge({ world, past, fail, elapsed, now, longestWaitMs }: Scene) {
  let schedule: Config['schedule'] | undefined;
  /** Undefined if it is off. */
  let profile: Config['schedule'] | undefined;
  /** When the last poll began, and how it failed. */
  let last = { startedAt: 0, wallAt: 0, errorKind: undefined as unknown };
  /** When polls were asked for that may still begin. */
  let asks: readonly number[] = [];
  /** When unrequested polls ended. */
  const ends: number[] = [];
  /** The last good poll that made up for missed slots, and the slot after it, by the wall clock. */
  let caughtUp = { startedAt: Number.NEGATIVE_INFINITY, endedAt: Number.NEGATIVE_INFINITY, nextSlot: 0 };

  const judgeReason = ({ trigger, startedAt }: Run, wallAt: number, isFirst: boolean): void => {
    const isDueSince = (time: number): boolean => (schedule?.nextTime(time) ?? 0) <= wallAt;
    const isKnown = !past.hasStepped(last.startedAt);
    if (trigger === 'start' && !isFirst) fail('a second poll at one start');
    if (isKnown && trigger === 'schedule' && !isDueSince(wallAt - LATEST_MS)) fail('a poll at no slot');
    // A poll that failed while the session waits is made up for, also if it failed for another reason.
    const mayWait = world.requests.some((request) => request.at >= past.lifeBegan && isRejection(request));
    const isOwed = (last.errorKind !== undefined && mayWait) || past.mayBePaused(last.startedAt);
    if (isKnown && trigger === 'catch-up' && !isDueSince(last.wallAt) && !isOwed) fail('a catch-up of nothing');
    if (trigger === 'manual' && asks.length === 0) fail('a manual poll that was not asked for');
    if (trigger === 'manual') asks = asks.filter((time) => time >= startedAt - REQUEST_MS);
  };
  const judgeCatchUp = ({ runId, outcome, startedAt }: Run, wallAt: number): void => {
    const isSoon = startedAt - caughtUp.endedAt < MINUTE_MS && !past.hasStepped(caughtUp.startedAt);
    if (isSoon && caughtUp.nextSlot > wallAt) fail(`run ${runId}: missed slots were made up twice`);
    if (GOOD.includes(outcome))
      caughtUp = { startedAt, endedAt: elapsed(), nextSlot: schedule?.nextTime(now()) ?? Number.POSITIVE_INFINITY };
  };
  return {
    setSettings: (given: Config): void => {
      ({ schedule } = given);
      profile = given.profileSchedule === 'off' ? undefined : given.profileSchedule;
    },
    judgeProfile: ({ trigger, duration_ms }: Row): void => {
      // It waits for a poll of the leagues.
      const beforeMs = Number(duration_ms) + 2 * longestWaitMs;
      const isDue = profile !== undefined && profile.nextTime(now() - beforeMs) <= now();
      if (trigger === 'schedule' && !isDue && !past.hasStepped(elapsed() - beforeMs)) fail('the profile at no slot');
      if (trigger === 'catch-up' && profile === undefined) fail('a catch-up of the profile, which is not polled');
    },
    markAsk: (): void => {
      asks = [...asks, elapsed()];
    },
    /** `isFirst`: of its life. */
    judge: (run: Run, isFirst: boolean): void => {
      const wallAt = now() - elapsed() + run.startedAt;
      judgeReason(run, wallAt, isFirst);
      last = { startedAt: run.startedAt, wallAt, errorKind: run.errorKind };
      if (run.trigger === 'catch-up') judgeCatchUp(run, wallAt);
      if (run.trigger === 'schedule' || run.trigger === 'catch-up') ends.push(elapsed());
      if (elapsed() - (ends.at(-MOST_UNREQUESTED - 1) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS)
        fail('four unrequested polls in a minute');
    },
  };
}
