import { describe, expect, it } from 'vitest';
import { makeLeague } from '../support/leagues.ts';
import { fail, json, listLeagues } from '../support/service.ts';
import { type Behaviour, createSimulatedWorker } from './simulated-worker.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** In the middle of a minute: the first scheduled poll comes after 30 s. */
const NOON = '2026-11-20T12:00:30.000Z';
const NEVER = { LEAGUE_SYNC_SCHEDULE: '0 0 1 1 *' };

const only =
  (kind: string, reply: ReturnType<Behaviour>): Behaviour =>
  (asked) =>
    asked === kind ? reply : undefined;

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

  it('keeps polling the leagues with the same token while the profile is forbidden', async () => {
    await using worker = createSimulatedWorker(NOON, { LEAGUE_SYNC_PROFILE_SCHEDULE: '* * * * *' });
    worker.service.behaviour = only('profile', fail(403));
    await worker.start();
    await worker.advance(10 * MINUTE);
    expect(worker.times('leagues')).toHaveLength(11);
    // Tried at the start, with a second token as well, and after 1, 3 and 7 minutes.
    expect(worker.times('profile')).toHaveLength(5);
    expect(worker.times('login')).toHaveLength(5);
  });

  it('warns of a lasting failure once, and tells its end once', async () => {
    await using worker = createSimulatedWorker(NOON);
    worker.service.behaviour = only('leagues', json('"a text"'));
    await worker.start();
    await worker.advance(2 * MINUTE);
    worker.service.behaviour = () => undefined;
    await worker.advance(2 * MINUTE);
    const polls = worker.lines.filter(({ kind, outcome }) => kind === 'leagues' && outcome !== undefined);
    expect(
      polls.map(({ level, msg }) => `${level} ${/failed as before|failed\.|recovered after 3|$/.exec(msg)}`),
    ).toEqual([...['40 failed.', '30 failed as before', '30 failed as before', '30 recovered after 3', '30 ']]);
  });
});

describe('a worker whose clock steps', () => {
  it('makes up once for the polls that a suspension left out, with a new token, and returns to the schedule', async () => {
    await using worker = createSimulatedWorker(NOON);
    await worker.start();
    await worker.advance(MINUTE);
    const before = worker.sent.length;
    worker.step(8 * HOUR);
    await worker.advance(2 * MINUTE);
    expect(worker.sent.slice(before).map(({ kind }) => kind)).toEqual(['login', 'leagues', 'leagues', 'leagues']);
    expect(worker.runs('trigger').map(({ trigger }) => trigger)).toEqual([
      ...['start', 'schedule', 'catch-up', 'schedule', 'schedule'],
    ]);
  });

  it('back by a day polls at the next time of the schedule, logs in no more, and no timestamp goes back', async () => {
    await using worker = createSimulatedWorker(NOON);
    const lists = [1, 2, 3, 4, 5].map((priority) => listLeagues([makeLeague('a', { priority })]));
    worker.service.behaviour = (kind) => (kind === 'leagues' ? lists.shift() : undefined);
    await worker.start();
    await worker.advance(MINUTE);
    worker.step(-24 * HOUR);
    await worker.advance(MINUTE);
    worker.step(24 * HOUR);
    await worker.advance(MINUTE);
    expect(worker.times('login')).toHaveLength(1);
    const runs = worker.runs('trigger, outcome, finished_at');
    expect(runs.map(({ trigger, outcome }) => `${trigger} ${outcome}`)).toEqual([
      ...['start changed', 'schedule changed', 'schedule changed', 'catch-up changed', 'schedule changed'],
    ]);
    const ends = runs.map(({ finished_at }) => String(finished_at));
    expect(ends).toEqual([...new Set(ends)].sort());
  });

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
