import { describe, expect, it } from 'vitest';
import { fail } from '../support/service.ts';
import { createSimulatedWorker } from './simulated-worker.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** In the middle of a minute: the first scheduled poll comes after 30 s. */
const NOON = '2026-11-20T12:00:30.000Z';
const NEVER = { LEAGUE_SYNC_SCHEDULE: '0 0 1 1 *' };

describe('a worker', () => {
  it('renews its token before it expires, though no poll is near', async () => {
    await using worker = createSimulatedWorker(NOON, NEVER);
    worker.service.tokenLifeMs = 6 * MINUTE;
    await worker.start();
    await worker.advance(13 * MINUTE);
    expect(worker.times('leagues')).toEqual([0]);
    expect(worker.times('login')).toEqual([0, 240, 480, 720]);
  });

  it('sends nothing before the end of a Retry-After, not even on SIGHUP or after a restart, and polls then', async () => {
    await using worker = createSimulatedWorker(NOON, NEVER);
    const reply = fail(429, { 'retry-after': '150' });
    worker.service.behaviour = (kind, { at }) => (kind === 'leagues' && at === 0 ? reply : undefined);
    await worker.start();
    await worker.advance(MINUTE);
    await worker.stop();
    await worker.start();
    worker.pollNow();
    await worker.advance(90 * SECOND - 1);
    expect(worker.sent.filter(({ at }) => at > 0)).toEqual([]);
    await worker.advance(2 * SECOND);
    expect(worker.times('leagues')).toEqual([0, 150]);
    const postponed = worker.lines.filter(({ msg }) => /postponed/.test(msg));
    expect(postponed.map(({ trigger }) => trigger)).toEqual(['start', 'manual']);
  });

  it('tries a secret that was refused at once on SIGHUP, and a changed one within ten seconds, and polls', async () => {
    await using worker = createSimulatedWorker(NOON);
    worker.setSecret('wrong');
    await worker.start();
    await worker.advance(8 * MINUTE);
    expect(worker.times('login')).toEqual([0, 60, 180, 420]);
    worker.pollNow();
    await worker.advance(2 * MINUTE);
    expect(worker.times('login')).toHaveLength(5);
    worker.setSecret(worker.service.password);
    await worker.advance(11 * SECOND);
    expect(worker.times('login')).toHaveLength(6);
    expect(worker.runs().at(-1)).toEqual({ outcome: 'unchanged' });
  });
});

describe('a worker whose clock steps', () => {
  it('deletes no run today if even the newest is old when it starts', async () => {
    await using worker = createSimulatedWorker(NOON);
    await worker.start();
    await worker.advance(3 * MINUTE);
    await worker.stop();
    worker.step(365 * 24 * HOUR);
    await worker.start();
    await worker.advance(MINUTE);
    expect(worker.lines.filter(({ msg }) => /^no runs are deleted today/.test(msg))).toHaveLength(1);
    expect(worker.runs()).toHaveLength(6);
  });
});
