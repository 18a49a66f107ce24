import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { StoppedError, TransportError } from '../../src/errors.ts';
import type { HttpRequest, SendRequest } from '../../src/http/request.ts';
import { openHeartbeat } from '../../src/observe/heartbeat.ts';
import type { RunReport } from '../../src/sync/report.ts';
import { createTestClock } from '../support/clock.ts';
import { ended, makeReport } from '../support/run-report.ts';

type Reply = { readonly status: number; readonly body?: string } | TransportError | 'hang';

const OK = { status: 200, body: 'OK' };
const DOWN = new TransportError('network', true, '', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) });
const SECOND = 1_000;
const PROXY = { address: 'http://user:word@proxy.example.com:1', label: 'the proxy' };

function reportOf(outcome: RunReport['outcome'], more: Partial<RunReport> = {}): RunReport {
  const error = outcome === 'failed' ? { error: new TransportError('network', true, 'no answer') } : {};
  return makeReport({ outcome, ...error, ...more });
}

/** A heartbeat to this address; every message is accepted, unless `answer` says otherwise. */
function createStage(address = 'https://hc.example.com/check', proxy?: typeof PROXY) {
  const clock = createTestClock();
  const seen: HttpRequest[] = [];
  let reply: Reply = OK;
  let release = (): void => undefined;
  const answered = async (): ReturnType<SendRequest> => {
    if (reply instanceof TransportError) throw reply;
    const { status, body = '' } = reply === 'hang' ? OK : reply;
    return { status, via: '', header: () => undefined, body: Buffer.from(body) };
  };
  const send: SendRequest = (request, signal) => {
    seen.push(request);
    if (reply !== 'hang') return answered();
    return new Promise((resolve, reject) => {
      release = () => resolve(answered());
      signal.addEventListener('abort', () => reject(new StoppedError()), { once: true });
    });
  };
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) });
  const heartbeat = openHeartbeat(
    { heartbeat: () => ({ url: new URL(address), proxy }) },
    { send, clock, random: () => 1, log },
  );
  if (heartbeat === undefined) throw new Error('no heartbeat');
  /** Reports a run of the leagues from its start to this outcome. */
  const run = async (outcome: RunReport['outcome'], more?: Partial<RunReport>): Promise<void> => {
    heartbeat.onEvent({ type: 'runStarted', kind: 'leagues' });
    await setImmediate();
    heartbeat.onEvent(ended(reportOf(outcome, more)));
    await setImmediate();
  };
  return {
    clock,
    seen,
    lines,
    heartbeat,
    run,
    kinds: () => seen.map(({ url }) => /\/(start|fail)\?/.exec(url)?.[1] ?? 'success'),
    ids: () => seen.map(({ url }) => new URL(url).searchParams.get('rid')),
    answer: (next: Reply): void => {
      reply = next;
    },
    /** Accepts a hanging message. */
    release: (): void => release(),
  };
}

describe('the heartbeat', () => {
  it('sends the start and the end of a run with the same id, and another id for each run', async () => {
    const { ids, kinds, run } = createStage();
    await run('unchanged');
    await run('held');
    expect(kinds()).toEqual(['start', 'success', 'start', 'success']);
    const [one, , other] = ids();
    expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect(ids()).toEqual([one, one, other, other]);
    expect(other).not.toBe(one);
  });

  it('says why a run failed, in at most 10,000 characters', async () => {
    const { seen, run } = createStage();
    await run('failed');
    await run('failed', { error: new TransportError('network', true, 'ö'.repeat(20_000)) });
    const [start, fail, , long] = seen;
    expect(start).toMatchObject({ method: 'GET', body: undefined });
    expect(fail).toMatchObject({
      ...{ method: 'POST', body: 'network: no answer' },
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    });
    expect(long?.body).toMatch(/^network: ö{9991}$/);
  });

  it('says nothing of a run that was interrupted, and nothing of the profile', async () => {
    const { kinds, run, heartbeat } = createStage();
    await run('interrupted');
    heartbeat.onEvent({ type: 'runStarted', kind: 'profile' });
    heartbeat.onEvent(ended(reportOf('failed', { kind: 'profile' })));
    await setImmediate();
    expect(kinds()).toEqual(['start']);
  });

  it.each([
    ['/check', '/check/start?rid=ID', '/check?rid=ID'],
    ['/check/', '/check/start?rid=ID', '/check/?rid=ID'],
    ['', '/start?rid=ID', '/?rid=ID'],
    ['/key/a%20slug?create=1', '/key/a%20slug/start?create=1&rid=ID', '/key/a%20slug?create=1&rid=ID'],
    ['/check#fragment', '/check/start?rid=ID', '/check?rid=ID'],
  ])('to an address that ends with "%s" says in its path what it tells', async (path, ...expected) => {
    const { seen, ids, run } = createStage(`https://user:s%C3%A9same@hc.example.com${path}`, PROXY);
    await run('changed');
    const paths = seen.map(({ url }) => url.replace('https://hc.example.com', '').replace(String(ids()[0]), 'ID'));
    expect(paths).toEqual(expected);
    const authorization = `Basic ${Buffer.from('user:sésame').toString('base64')}`;
    expect(seen[0]).toMatchObject({ headers: { authorization }, proxy: PROXY });
  });
});

describe('a heartbeat that fails', () => {
  it('is tried four times within half a minute, but the start only until the end is known', async () => {
    const { clock, kinds, run, answer } = createStage();
    answer(DOWN);
    await run('changed');
    expect(kinds()).toEqual(['start', 'success']);
    await clock.advance(60 * SECOND);
    expect(clock.slept).toEqual([4 * SECOND, 4 * SECOND, 8 * SECOND, 16 * SECOND]);
    expect(kinds()).toEqual(['start', 'success', 'success', 'success', 'success']);
  });

  it.each<[string, Reply, string, number]>([
    ['status 500', { status: 500 }, 'status 500', 5],
    ['status 408', { status: 408 }, 'status 408', 5],
    ['status 404', { status: 404, body: 'not found' }, 'status 404', 2],
    ['status 429', { status: 429 }, 'status 429', 2],
    ['a redirect', { status: 302 }, 'status 302', 2],
    ['"OK (not found)"', { status: 200, body: 'OK (not found)' }, 'not found', 2],
    ['"OK (rate limited)"', { status: 200, body: 'OK (rate limited)' }, 'rate limited', 2],
    ['no connection', DOWN, 'ECONNREFUSED through the proxy the proxy', 5],
    ['no answer', new TransportError('timeout', true, ''), 'no answer within 10 s through the proxy the proxy', 5],
  ])('with %s is told without its address, and tried again if that can help', async (_name, reply, what, messages) => {
    const { clock, kinds, lines, run, answer } = createStage('https://hc.example.com/check', PROXY);
    answer(reply);
    await run('changed');
    await clock.advance(60 * SECOND);
    const proxy = /^status/.test(what) ? ' through the proxy the proxy' : '';
    expect(lines).toEqual([`the heartbeat to hc.example.com failed (${what}${proxy})`]);
    expect(kinds()).toHaveLength(messages);
  });

  it('is logged once, naming only the host, until it works again', async () => {
    const { clock, lines, run, answer } = createStage();
    answer(DOWN);
    for (let runs = 0; runs < 3; runs += 1) {
      await run('changed');
      await clock.advance(60 * SECOND);
    }
    expect(lines).toEqual(['the heartbeat to hc.example.com failed (ECONNREFUSED)']);
    answer(OK);
    await run('changed');
    await run('changed');
    const end = 'the heartbeat to hc.example.com works again; recovered after 6 failed attempts in 3 min';
    expect(lines.slice(1)).toEqual([end]);
  });

  it('is superseded by the newest message, without those in between', async () => {
    const { ids, kinds, run, answer, release } = createStage();
    answer('hang');
    for (let runs = 0; runs < 5; runs += 1) await run('changed');
    await run('failed');
    expect(kinds()).toEqual(['start']);
    answer(OK);
    release();
    await setImmediate();
    expect(kinds()).toEqual(['start', 'fail']);
    expect(ids()[1]).not.toBe(ids()[0]);
  });
});

describe('a heartbeat that ends', () => {
  it('gives a message in progress one more second', async () => {
    const { clock, run, answer, release, kinds, heartbeat, lines } = createStage();
    answer('hang');
    await run('changed');
    const ended = heartbeat[Symbol.asyncDispose]();
    await clock.advance(0.9 * SECOND);
    answer(OK);
    release();
    await ended;
    expect(kinds()).toEqual(['start', 'success']);
    expect(lines).toEqual([]);
  });

  it('aborts a hanging message without logging it', async () => {
    const { clock, run, answer, kinds, heartbeat, lines } = createStage();
    answer('hang');
    await run('changed');
    const ended = heartbeat[Symbol.asyncDispose]();
    await clock.advance(SECOND);
    await ended;
    expect(kinds()).toEqual(['start']);
    expect(lines).toEqual([]);
  });

  it('delays nothing between two attempts, nor for a run that has not ended', async () => {
    const { run, answer, heartbeat } = createStage();
    answer(DOWN);
    await run('changed');
    await heartbeat[Symbol.asyncDispose]();
    const idle = createStage();
    idle.heartbeat.onEvent({ type: 'runStarted', kind: 'leagues' });
    await idle.heartbeat[Symbol.asyncDispose]();
    expect(idle.kinds()).toEqual(['start']);
  });
});
