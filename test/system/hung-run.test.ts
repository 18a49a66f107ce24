import { beforeEach, describe, expect, it } from 'vitest';
import { EVERY_SECOND, setUpFor } from '../support/bench.ts';
import {
  expectNoOverlap,
  grantLogin,
  hang,
  type Kind,
  listLeagues,
  type Reply,
  startService,
  trickle,
} from '../support/service.ts';
import { makeFakeClock, missingFaketime, runUnder } from './libfaketime.ts';

const RUN_MS = 1_500;
/** A timer may fire early, since Node counts from the beginning of the current turn of the event loop. */
const EARLY_MS = 100;
/** Far more than a busy machine adds, and far less than the hung request would last. */
const ENDED_MS = 12_000;
const ENV = {
  LEAGUE_SYNC_SCHEDULE: EVERY_SECOND,
  LEAGUE_SYNC_RUN_TIMEOUT: `${RUN_MS}ms`,
  LEAGUE_SYNC_ATTEMPT_TIMEOUT: '60s',
};

describe('a run that hangs', () => {
  it.each<[string, Kind, Reply, Reply]>([
    ['on a service that accepts and never answers', 'leagues', hang(), listLeagues([])],
    ['on a body of one byte a second', 'leagues', trickle(1_000), listLeagues([])],
    ['on a login that is never answered', 'login', hang(), grantLogin()],
  ])('%s is ended by its own deadline, and the next scheduled poll takes place', async (_how, kind, reply, good) => {
    const service = await startService({ [kind]: [reply, good] });
    const bench = setUpFor(service.url);
    const worker = bench.start(['run'], ENV);
    const { duration_ms: durationMs } = await worker.waitForPoll('failed');
    await worker.waitForPoll('unchanged');
    expect((await worker.stop()).code).toBe(0);

    expect(Number(durationMs)).toBeGreaterThanOrEqual(RUN_MS - EARLY_MS);
    expect(Number(durationMs)).toBeLessThan(ENDED_MS);
    // The service, too, must see the end of one request before the start of the next.
    expect(service.seen(kind).length).toBeGreaterThanOrEqual(2);
    expectNoOverlap(service.seen(kind).slice(0, 2));
    const [first] = bench.rows('SELECT outcome, error_kind, error_message FROM runs ORDER BY id');
    expect(first).toMatchObject({ outcome: 'failed', error_kind: 'timeout' });
    expect(first?.error_message).toMatch(/LEAGUE_SYNC_RUN_TIMEOUT/);
  });
});

describe('a run that hangs while the clock is set', () => {
  beforeEach(({ skip }) => {
    const why = missingFaketime();
    skip(why !== undefined, why);
  });

  it.each(['-2h', '+2h'] as const)('by %s has as much time as ever', async (offset) => {
    const service = await startService();
    const bench = setUpFor(service.url);
    const clock = makeFakeClock(bench.folder, '+0');
    service.script('leagues', () => clock.set(offset), listLeagues([]));
    const worker = runUnder(clock, bench, ENV);
    const { duration_ms: durationMs } = await worker.waitForPoll('failed');
    await worker.waitForPoll('unchanged');
    expect((await worker.stop()).code).toBe(0);
    expect(Number(durationMs)).toBeGreaterThanOrEqual(RUN_MS - EARLY_MS);
    expect(Number(durationMs)).toBeLessThan(ENDED_MS);
  });
});
