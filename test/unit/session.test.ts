import { describe, expect, it, onTestFinished } from 'vitest';
import {
  ContractError,
  CredentialsError,
  RetryAfterError,
  type RunError,
  StatusError,
  StoppedError,
  TransportError,
} from '../../src/errors.ts';
import type { LogIn, LoginReason } from '../../src/service/login.ts';
import { createSession } from '../../src/service/session.ts';
import { createBackoff, LASTING_FAILURE, type Resource } from '../../src/service/session-backoff.ts';
import type { Token } from '../../src/service/token-expiry.ts';
import { createTestClock } from '../support/clock.ts';
import { DAY, HOUR, MINUTE, SECOND, YEAR } from '../support/durations.ts';
import { rejectionOf } from '../support/unit-error.ts';

const LOGIN_TIMEOUT_MS = 2 * MINUTE;
/** Fails the test of a session in a busy loop, instead of hanging. */
const MOST_LOGINS = 2_000;

const refusal = () => new CredentialsError('The service refused the login (status 401).', { httpStatus: 401 });
const outage = () => new TransportError('network', false, 'The connection was refused.');

type Stage = {
  readonly lifeMs?: number | undefined;
  readonly leewayMs?: number;
  /** The error of the login with this number, from 1. */
  readonly fails?: (login: number) => Error | undefined;
  readonly loginTakesMs?: number;
};

/** A session with a login that a test controls, and a clock that it moves. */
function createStage({ leewayMs = 5 * MINUTE, fails = () => undefined, loginTakesMs = 0, ...rest }: Stage = {}) {
  const lifeMs = 'lifeMs' in rest ? rest.lifeMs : HOUR;
  const clock = createTestClock();
  const begun = clock.monotonic();
  const stop = new AbortController();
  const logins: { reason: LoginReason; at: number }[] = [];
  /** The runs that the logins were recorded with. */
  const loginRuns: (number | null)[] = [];
  const pair = { username: 'player', password: 'old' };
  let failing = fails;
  const logIn: LogIn = async ({ reason, runId }, credentials, signal): Promise<Token> => {
    credentials.read();
    logins.push({ reason, at: clock.monotonic() - begun });
    const number = logins.length;
    if (number > MOST_LOGINS) stop.abort(new StoppedError());
    const sentAt = { wall: clock.now(), monotonic: clock.monotonic() };
    if (loginTakesMs > 0) await clock.sleep(loginTakesMs, signal);
    loginRuns.push(runId());
    const error = failing(number);
    if (error !== undefined) throw error;
    return {
      accessToken: `token-${number}`,
      sentAt,
      loginDurationMs: loginTakesMs,
      lifetimeMs: lifeMs,
      expiresAt: lifeMs === undefined ? undefined : sentAt.wall + lifeMs,
      clockSkewMs: undefined,
    };
  };
  const session = createSession({
    logIn,
    credentials: { read: () => ({ ...pair }) },
    clock,
    leewayMs,
    firstReason: 'start',
    loginTimeoutMs: LOGIN_TIMEOUT_MS,
    signal: stop.signal,
  });
  const { signal } = stop;
  return {
    session,
    clock,
    signal,
    logins,
    loginRuns,
    moments: () => logins.map(({ at }) => at),
    use: async (resource: Resource = 'leagues') => (await session.token(resource, { signal })).accessToken,
    /** A request whose tokens are rejected so, one after the other; resolves to the token that is accepted. */
    ask: (resource: Resource, ...rejections: RunError[]) =>
      session.request(resource, { signal }, async ({ accessToken }) => {
        const rejection = rejections.shift();
        return rejection === undefined ? { result: accessToken } : { rejection };
      }),
    /** Keeps the token renewed until the test ends, and expects that the stop ends it. */
    keep: (): void => {
      const keeping = session.keepRenewed(signal);
      onTestFinished(() => {
        stop.abort(new StoppedError());
        return keeping;
      });
    },
    rotate: (password: string) => {
      pair.password = password;
    },
    failWith: (next: (login: number) => Error | undefined) => {
      failing = next;
    },
  };
}

describe('a session', () => {
  it('logs in for the first token, and caches it', async () => {
    const { use, clock, logins } = createStage();
    expect(logins).toEqual([]);
    expect(await use()).toBe('token-1');
    await clock.advance(30 * MINUTE);
    expect(await use()).toBe('token-1');
    expect(logins).toEqual([{ reason: 'start', at: 0 }]);
  });

  it('records a login with the run that asked for it first, if any did', async () => {
    const { session, keep, clock, loginRuns, signal } = createStage({ loginTakesMs: 5 * SECOND });
    keep();
    const asked = Promise.all([7, 8].map((runId) => session.token('leagues', { signal, runId })));
    await clock.advance(10 * SECOND);
    await asked;
    await clock.advance(2 * HOUR);
    // No run asks for the renewals.
    expect(new Set(loginRuns.slice(1))).toEqual(new Set([null]));
    expect(loginRuns[0]).toBe(7);
  });

  it('does not abort the login if one of several waiting requests is aborted', async () => {
    const { session, use, clock } = createStage({ loginTakesMs: 5 * SECOND });
    const impatient = new AbortController();
    const gone = rejectionOf(session.token('leagues', impatient));
    const stays = use();
    await clock.advance(SECOND);
    const reason = new StoppedError();
    impatient.abort(reason);
    expect(await gone).toBe(reason);
    await clock.advance(5 * SECOND);
    expect(await stays).toBe('token-1');
  });

  it.each([
    ['six seconds', 6 * SECOND, 900],
    ['an hour', HOUR, 2],
    ['sixty days', 60 * DAY, 1],
    ['unknown', undefined, 2],
    ['over when they arrive', -MINUTE, 16],
  ])(
    'with tokens whose lifetime is %s makes the expected number of logins in an hour',
    async (_life, lifeMs, expected) => {
      const { keep, clock, logins } = createStage({ lifeMs });
      keep();
      await clock.advance(HOUR - 1);
      expect(logins).toHaveLength(expected);
    },
  );

  it.each([
    ['a leeway before the end', 5 * MINUTE, 55 * MINUTE],
    ['at two thirds where the leeway is longer than a third', 2 * HOUR, 40 * MINUTE],
  ])('renews %s, independently of polls', async (_when, leewayMs, dueMs) => {
    const { keep, clock, logins } = createStage({ leewayMs });
    keep();
    await clock.advance(dueMs + MINUTE);
    expect(logins).toEqual([
      { reason: 'start', at: 0 },
      { reason: 'due', at: dueMs },
    ]);
  });

  it('uses the old token until it expires while renewal fails and is retried', async () => {
    const { use, keep, clock, logins, failWith } = createStage();
    keep();
    await clock.advance(0);
    failWith(outage);
    await clock.advance(59 * MINUTE);
    expect(await use()).toBe('token-1');
    expect(logins.length).toBeGreaterThan(5);
    expect(logins.length).toBeLessThan(25);
    failWith(() => undefined);
    await clock.advance(30 * SECOND);
    expect(await use()).toBe(`token-${logins.length}`);
  });

  it('times out a login that takes too long', async () => {
    const { use, clock } = createStage({ loginTakesMs: HOUR });
    const failed = rejectionOf(use());
    await clock.advance(LOGIN_TIMEOUT_MS);
    expect(await failed).toMatchObject({ kind: 'timeout' });
  });

  it.each<[string, number, number]>([
    ['a year ahead', YEAR, 2],
    ['an hour back', -HOUR, 1],
    ['while the machine sleeps through the life of the token', 2 * HOUR, 2],
  ])('makes no unnecessary logins if the wall clock moves %s', async (_where, step, expected) => {
    const { use, keep, clock, logins } = createStage();
    keep();
    await clock.advance(MINUTE);
    clock.step(step);
    expect(await use()).toBe(`token-${expected}`);
    await clock.advance(30 * MINUTE);
    expect(logins).toHaveLength(expected);
  });

  it('aborts the login in progress when it is disposed of, and awaits its end', async () => {
    const { session, use, clock } = createStage({ loginTakesMs: HOUR });
    const failed = rejectionOf(use());
    let settled = false;
    const disposed = session[Symbol.asyncDispose]().then(() => {
      settled = true;
    });
    expect(settled).toBe(false);
    await clock.advance(0);
    await disposed;
    expect(await failed).toBeInstanceOf(StoppedError);
  });
});

describe('a session whose credentials are refused', () => {
  it.each<[string, () => RunError]>([
    ['', refusal],
    [', or whose login gets 404', () => new StatusError(false, 'Not found.', { httpStatus: 404 })],
    [', or whose login gets a page', () => new ContractError('The response is an HTML page.', { httpStatus: 200 })],
  ])('tries again after a minute, doubling to an hour%s', async (_, fails) => {
    const { keep, clock, moments } = createStage({ fails });
    keep();
    await clock.advance(6 * HOUR);
    const minutes = [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303];
    expect(moments()).toEqual(minutes.map((minute) => minute * MINUTE));
  });

  it('honours a Retry-After that follows the refusal', async () => {
    const { keep, clock, moments, failWith } = createStage({ fails: refusal });
    keep();
    await clock.advance(0);
    const end = clock.now() + 11 * MINUTE;
    failWith((login) =>
      login === 2 ? new RetryAfterError(true, 'The service asked for a pause.', { notBefore: end }) : undefined,
    );
    await clock.advance(12 * MINUTE);
    expect(moments()).toEqual([0, MINUTE, 11 * MINUTE]);
  });

  it('rejects requests in the meantime with the time of the next try, without another login', async () => {
    const { session, use, clock, logins } = createStage({ fails: refusal });
    const first = await rejectionOf(use());
    expect(first).toMatchObject({ kind: 'credentials', httpStatus: 401 });
    await clock.advance(20 * SECOND);
    const until = clock.now() + 40 * SECOND;
    const second = await rejectionOf(use());
    expect(second).toMatchObject({ kind: 'credentials', httpStatus: 401 });
    expect(String(second)).toContain(`The next try is at ${new Date(until).toISOString()}`);
    expect(session.failure()).toEqual({ subject: 'login', error: first, until });
    expect(logins).toHaveLength(1);
  });

  it('tells the time of the next try by the wall clock as it is now, even if that was set meanwhile', async () => {
    const { session, use, clock } = createStage({ fails: refusal });
    await rejectionOf(use());
    const until = clock.now() + MINUTE;
    const tellsUntil = async (ms: number): Promise<void> => {
      expect(String(await rejectionOf(use()))).toContain(`The next try is at ${new Date(ms).toISOString()}`);
      expect(session.failure()).toMatchObject({ until: ms });
    };
    clock.step(2 * HOUR);
    await tellsUntil(until + 2 * HOUR);
    clock.step(-4 * HOUR);
    await tellsUntil(until - 2 * HOUR);
  });

  it('tells the same time in each failure, though the clocks count milliseconds from different moments', () => {
    let [now, monotonic] = [0, 0.4];
    const backoff = createBackoff(
      { now: () => now, monotonic: () => monotonic, sleep: async () => undefined },
      LASTING_FAILURE,
    );
    backoff.fail();
    const until = backoff.until();
    [now, monotonic] = [5_001, 5_000.4];
    expect(backoff.until()).toBe(until);
  });

  it('uses a rotated secret within ten seconds, even during the longest wait', async () => {
    const { use, keep, clock, logins, rotate, failWith } = createStage({ fails: refusal });
    keep();
    await clock.advance(70 * MINUTE);
    const before = logins.length;
    rotate('new');
    failWith(() => undefined);
    await clock.advance(10 * SECOND);
    expect(logins).toHaveLength(before + 1);
    expect(await use()).toBe(`token-${before + 1}`);
  });

  it('uses a secret that was rotated during the refused login', async () => {
    const { keep, clock, moments, rotate, failWith } = createStage({ fails: refusal, loginTakesMs: 5 * SECOND });
    keep();
    await clock.advance(SECOND);
    rotate('new');
    await clock.advance(4 * SECOND);
    failWith(() => undefined);
    await clock.advance(30 * SECOND);
    expect(moments()).toEqual([0, 5 * SECOND]);
  });

  it('starts at a minute again after a successful login', async () => {
    const fails = (login: number) => (login <= 3 || login === 5 || login === 6 ? refusal() : undefined);
    const { keep, clock, moments } = createStage({ fails });
    keep();
    await clock.advance(65 * MINUTE);
    const success = 7 * MINUTE;
    const due = success + 55 * MINUTE;
    expect(moments()).toEqual([0, MINUTE, 3 * MINUTE, success, due, due + MINUTE, due + 3 * MINUTE]);
  });

  it('keeps doubling the wait while requests with the old token succeed', async () => {
    const fails = (login: number) => (login === 1 ? undefined : refusal());
    const { ask, keep, clock, moments } = createStage({ lifeMs: 6 * HOUR, leewayMs: 2 * HOUR, fails });
    keep();
    for (let minute = 0; minute < 350; minute += 5) {
      await clock.advance(5 * MINUTE);
      expect(await ask('leagues')).toBe('token-1');
    }
    const minutes = [0, 240, 241, 243, 247, 255, 271, 303];
    expect(moments()).toEqual(minutes.map((minute) => minute * MINUTE));
  });
});

describe('a session whose token is rejected', () => {
  /** A request for which even a fresh token is rejected. */
  const askInVain = ({ ask }: ReturnType<typeof createStage>, resource: Resource = 'leagues', error = refusal) =>
    rejectionOf(ask(resource, error(), error()));

  it('logs in again at once', async () => {
    const { ask, use, logins } = createStage();
    expect(await ask('leagues', refusal())).toBe('token-2');
    expect(await use()).toBe('token-2');
    expect(logins.map(({ reason }) => reason)).toEqual(['start', 'rejected-token']);
  });

  it('uses a newer token if there is one', async () => {
    const { session, use, clock, signal, logins } = createStage();
    const used: string[] = [];
    await session.request('leagues', { signal }, async ({ accessToken }) => {
      used.push(accessToken);
      if (used.length > 1) return { result: undefined };
      await clock.advance(HOUR);
      await use();
      return { rejection: refusal() };
    });
    expect(used).toEqual(['token-1', 'token-2']);
    expect(logins).toHaveLength(2);
  });

  it('does not reuse the rejected token if the next login fails', async () => {
    const { ask, use, logins } = createStage({ fails: (login) => (login === 2 ? outage() : undefined) });
    expect(await rejectionOf(ask('leagues', refusal()))).toMatchObject({ kind: 'network' });
    expect(await use('profile')).toBe('token-3');
    expect(logins.at(-1)?.reason).toBe('rejected-token');
  });

  it('waits for a minute, doubling to an hour, for a resource that rejects fresh tokens too', async () => {
    const stage = createStage({ lifeMs: 60 * DAY });
    stage.keep();
    const tries: number[] = [];
    for (let minute = 0; minute < 70; minute += 1) {
      await stage.clock.advance(0);
      const against = stage.session.blockedBy('leagues');
      if (against === undefined) tries.push(minute);
      const rejection = await askInVain(stage);
      if (against !== undefined) expect(rejection).toEqual(against);
      await stage.clock.advance(MINUTE);
    }
    expect(tries).toEqual([0, 1, 3, 7, 15, 31, 63]);
    // The first token is replaced within its run. Then comes one login per try, and none in between.
    expect(stage.moments()).toEqual([0, ...tries].map((minute) => minute * MINUTE));
  });

  it('still uses the same token for the other resource, without a login, and replaces it if that rejects it', async () => {
    const stage = createStage({ lifeMs: 60 * DAY });
    await askInVain(stage, 'profile');
    for (let poll = 0; poll < 10; poll += 1) {
      expect(await stage.ask('leagues')).toBe('token-2');
      expect(await rejectionOf(stage.use('profile'))).toMatchObject({ kind: 'credentials' });
      await stage.clock.advance(5 * SECOND);
    }
    expect(stage.logins).toHaveLength(2);
    expect(await stage.ask('leagues', refusal())).toBe('token-3');
  });

  it('is not replaced within a run again until the resource accepts one', async () => {
    const stage = createStage();
    await askInVain(stage);
    await stage.clock.advance(MINUTE);
    await askInVain(stage);
    expect(stage.logins).toHaveLength(3);
    await stage.clock.advance(2 * MINUTE);
    expect(await stage.ask('leagues')).toBe('token-4');
    expect(await stage.ask('leagues', refusal())).toBe('token-5');
  });

  it('is kept if even a fresh one gets result=fail; it is replaced for that after a minute, doubling to an hour', async () => {
    const stage = createStage({ lifeMs: 60 * DAY });
    const failure = () => new StatusError(false, 'The service answered with a failure (status 200, result=fail).');
    const minutes: number[] = [];
    for (let minute = 0; minute < 130; minute += 1) {
      const before = stage.logins.length;
      expect(await askInVain(stage, 'leagues', failure)).toMatchObject({ kind: 'status' });
      if (stage.logins.length > before) minutes.push(minute);
      expect(await stage.use()).toBe(`token-${stage.logins.length}`);
      expect(stage.session.failure()).toBeUndefined();
      await stage.clock.advance(MINUTE);
    }
    expect(minutes).toEqual([0, 1, 3, 7, 15, 31, 63, 123]);
    // A revoked token is replaced at once.
    expect(await stage.ask('leagues', refusal())).toBe(`token-${stage.logins.length}`);
    expect(stage.logins.at(-1)).toMatchObject({ reason: 'rejected-token', at: 130 * MINUTE });
  });

  it('that is fresh is not replaced again, though a passing failure came before its rejection', async () => {
    const stage = createStage();
    const answers = ['rejected', 'passes', 'rejected', 'rejected'];
    const send = async () => {
      if (answers.shift() === 'passes') throw outage();
      return { rejection: refusal() };
    };
    const request = () => rejectionOf(stage.session.request('leagues', { signal: stage.signal }, send));
    expect(await request()).toMatchObject({ kind: 'network' });
    expect(await request()).toMatchObject({ kind: 'credentials' });
    expect(stage.logins).toHaveLength(2);
  });

  it('that was fresh an hour ago is replaced if it is rejected, though no request with it has succeeded', async () => {
    const { session, clock, signal, logins } = createStage({ lifeMs: DAY });
    const answers = ['rejected', 'passes', 'rejected', 'accepted'];
    const send = async ({ accessToken }: Token) => {
      const answer = answers.shift();
      if (answer === 'passes') throw outage();
      return answer === 'accepted' ? { result: accessToken } : { rejection: refusal() };
    };
    const poll = () => session.request('leagues', { signal }, send);
    expect(await rejectionOf(poll())).toEqual(outage());
    await clock.advance(HOUR);
    expect(await poll()).toBe('token-3');
    expect(logins.map(({ reason }) => reason)).toEqual(['start', 'rejected-token', 'rejected-token']);
  });

  it('that is never accepted is replaced ever more seldom, though the first request with each fails otherwise', async () => {
    const { session, clock, signal, logins } = createStage({ lifeMs: DAY });
    const used = new Set<Token>();
    const send = async (token: Token) => {
      if (used.has(token)) return { rejection: refusal() };
      used.add(token);
      throw outage();
    };
    for (let poll = 0; poll < 96; poll += 1) {
      await rejectionOf(session.request('leagues', { signal }, send));
      await clock.advance(5 * MINUTE);
    }
    expect(logins.length).toBeLessThan(25);
  });

  it('that was renewed after a rejection is replaced once if it is rejected, too', async () => {
    const stage = createStage({ lifeMs: HOUR });
    await askInVain(stage);
    stage.keep();
    await stage.clock.advance(HOUR);
    const before = stage.logins.length;
    expect(await stage.ask('leagues', refusal())).toBe(`token-${before + 1}`);
  });

  it('names the failure that blocks polls of the leagues, even if the profile is tried again first', async () => {
    const stage = createStage();
    await askInVain(stage, 'profile');
    expect(stage.session.failure()).toMatchObject({ subject: 'profile' });
    await stage.clock.advance(10 * SECOND);
    await askInVain(stage);
    expect(stage.session.failure()).toMatchObject({ subject: 'leagues' });
    expect(stage.session.blockedBy('leagues')).toBeDefined();
  });

  it.each(['a rotated secret', 'a login with a rotated secret', 'retryNow'])(
    'retries at once after %s',
    async (why) => {
      const stage = createStage();
      stage.keep();
      await askInVain(stage);
      expect(stage.session.failure()).toMatchObject({ until: stage.clock.now() + MINUTE });
      if (why === 'retryNow') stage.session.retryNow();
      else stage.rotate('new');
      if (why.startsWith('a login')) await stage.ask('profile', refusal());
      else await stage.clock.advance(10 * SECOND);
      expect(stage.session.failure()).toBeUndefined();
      expect(await stage.use()).toBe('token-3');
    },
  );
});

describe('a session whose logins fail', () => {
  it('retries after a second, doubling to five minutes', async () => {
    const { keep, clock, moments } = createStage({ fails: outage });
    keep();
    await clock.advance(20 * MINUTE);
    const seconds = [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111];
    expect(moments()).toEqual(seconds.map((second) => second * SECOND));
  });

  it('logs in at once for a request, which counts for the backoff', async () => {
    const { use, keep, clock, moments } = createStage({ fails: outage });
    keep();
    await clock.advance(2 * MINUTE);
    await rejectionOf(use());
    await clock.advance(4 * MINUTE);
    const seconds = [0, 1, 3, 7, 15, 31, 63, 120, 248];
    expect(moments()).toEqual(seconds.map((second) => second * SECOND));
  });

  it('renews on time a token that a request obtained during the backoff', async () => {
    const { use, keep, clock, moments, failWith } = createStage({ lifeMs: 6 * SECOND, fails: outage });
    keep();
    await clock.advance(10 * MINUTE);
    failWith(() => undefined);
    await use();
    const at = 10 * MINUTE;
    await clock.advance(9 * SECOND);
    expect(moments().filter((moment) => moment >= at)).toEqual([at, at + 4 * SECOND, at + 8 * SECOND]);
  });
});
