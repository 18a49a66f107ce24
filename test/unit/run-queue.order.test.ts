import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRetryAfter } from '../../src/http/retry-after.ts';
import { openLog } from '../../src/log.ts';
import type { RunKind, Trigger } from '../../src/store/tables/runs.ts';
import { PLAIN } from '../../src/terminal/style.ts';
import { createRunQueue } from '../../src/worker/run-queue.ts';
import { createTestClock } from '../support/clock.ts';
import { RUNS } from '../support/league-lists.ts';
import { makeReport } from '../support/run-report.ts';

const { log } = openLog({ level: 'silent', format: 'json' }, 1, PLAIN);

type Event = 'end' | readonly [RunKind, Trigger];

const EVENTS: fc.Arbitrary<readonly Event[]> = fc.array(
  fc.oneof(
    fc.constant<Event>('end'),
    fc.tuple(
      fc.constantFrom<RunKind>('leagues', 'profile'),
      fc.constantFrom<Trigger>('schedule', 'catch-up', 'manual', 'start'),
    ),
  ),
  { maxLength: 30 },
);

/** Applies the events one by one; returns the maximum number of concurrent runs, and all requests and starts. */
async function play(events: readonly Event[]) {
  const begun: RunKind[] = [];
  const ends: (() => void)[] = [];
  let most = 0;
  const poll = (kind: RunKind) => async (trigger: Trigger) => {
    begun.push(kind);
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.push(resolve);
    most = Math.max(most, ends.length);
    await promise;
    return makeReport({ kind: kind, trigger: trigger });
  };
  const queue = createRunQueue({
    poll: { leagues: poll('leagues'), profile: poll('profile') },
    retryAfter: createRetryAfter(createTestClock()),
    blockedBy: () => undefined,
    log,
    signal: new AbortController().signal,
  });
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await setImmediate();
  };
  /** Requests that need a run which begins later; a run in progress does not satisfy them. */
  const owed = new Map<RunKind, number>();
  for (const event of events) {
    if (event === 'end') await endOne();
    else {
      const [kind, trigger] = event;
      const running = ends.length > 0 ? begun.at(-1) : undefined;
      if (running !== kind || trigger !== 'schedule') owed.set(kind, begun.filter((one) => one === kind).length);
      queue.request(kind, trigger);
      await setImmediate();
    }
  }
  const waiting = begun.length;
  while (ends.length > 0) await endOne();
  await queue.idle();
  return { begun, most, owed, after: begun.length - waiting };
}

it('polls never overlap, and none that is due is left out, for any order of requests and ends', async () => {
  await fc.assert(
    fc.asyncProperty(EVENTS, async (events) => {
      const { begun, most, owed, after } = await play(events);
      expect(most).toBeLessThanOrEqual(1);
      for (const [kind, before] of owed) expect(begun.filter((one) => one === kind).length).toBeGreaterThan(before);
      // Any number of requests during a run leads to one run of each kind.
      expect(after).toBeLessThanOrEqual(2);
    }),
    RUNS,
  );
});
