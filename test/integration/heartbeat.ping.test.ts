import { describe, expect, it } from 'vitest';
import { RunError, StoppedError } from '../../src/errors.ts';
import { createHealthchecksClient, type PingMessage } from '../../src/observe/heartbeat.ts';
import { findPackage } from '../../src/package.ts';
import { CHECK_ID, startMonitoring } from '../support/monitoring.ts';
import { startProxy } from '../support/proxy.ts';
import { hang, type Reply, reset } from '../support/service.ts';

const START: PingMessage = { kind: 'start', runId: 'run-1' };
const SUCCESS: PingMessage = { kind: 'success', runId: 'run-1' };
const FAIL: PingMessage = { kind: 'fail', runId: 'run-1', text: 'network: no answer, größtenteils' };

type Way = {
  readonly url: string;
  readonly signal?: AbortSignal;
  readonly proxy?: string;
  readonly timeoutMs?: number;
};

/** Undefined if the ping succeeded, otherwise the message of the error. */
async function send(message: PingMessage, { url, signal, proxy, timeoutMs = 60_000 }: Way) {
  const through = proxy === undefined ? undefined : { address: proxy, variable: 'http_proxy', label: 'the proxy' };
  const ping = createHealthchecksClient(() => ({ url: new URL(url), proxy: through }), { timeoutMs });
  return ping(message, signal ?? new AbortController().signal).catch((error: unknown) => {
    if (!(error instanceof RunError)) throw error;
    return { what: error.message, passes: error.retryable };
  });
}

describe('a message to the monitoring service', () => {
  it.each([
    ['/check', '/check/start?rid=run-1', '/check?rid=run-1'],
    ['/check/', '/check/start?rid=run-1', '/check/?rid=run-1'],
    ['', '/start?rid=run-1', '/?rid=run-1'],
    ['/key/a%20slug?create=1', '/key/a%20slug/start?create=1&rid=run-1', '/key/a%20slug?create=1&rid=run-1'],
    ['/check#fragment', '/check/start?rid=run-1', '/check?rid=run-1'],
  ])('to an address that ends with "%s" says in its path what it tells', async (path, start, success) => {
    const { seen, port } = await startMonitoring();
    const url = `http://127.0.0.1:${port}${path}`;
    expect([await send(START, { url }), await send(SUCCESS, { url })]).toEqual([undefined, undefined]);
    expect(seen.map((one) => `${one.method} ${one.path}`)).toEqual([`GET ${start}`, `GET ${success}`]);
    expect(seen[0]?.headers['user-agent']).toBe(`league-sync/${findPackage().version}`);
  });

  it('of a failure carries the reason as text', async () => {
    const { seen, url } = await startMonitoring();
    await send(FAIL, { url });
    expect(seen).toMatchObject([{ method: 'POST', path: `/${CHECK_ID}/fail?rid=run-1`, body: FAIL.text }]);
    expect(seen[0]?.headers['content-type']).toBe('text/plain; charset=utf-8');
  });

  it('carries the user and the password of the address as a header', async () => {
    const { seen, port } = await startMonitoring();
    await send(START, { url: `http://clerk:s%C3%A9same%zz@127.0.0.1:${port}/check` });
    expect(seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from('clerk:sésame%zz').toString('base64')}`);
    expect(seen[0]?.path).toBe('/check/start?rid=run-1');
  });

  it('goes through the proxy', async () => {
    const { seen, port, told } = await startMonitoring();
    const proxy = await startProxy(port);
    const url = `http://hc.example.test/${CHECK_ID}`;
    expect(await send(START, { url, proxy: proxy.url })).toBeUndefined();
    expect(told()).toEqual(['GET /start']);
    expect(seen).toHaveLength(proxy.connections());
  });

  it.each<[string, Reply, { what: string; passes: boolean }]>([
    ['status 500', { status: 500 }, { what: 'status 500', passes: true }],
    ['status 503', { status: 503 }, { what: 'status 503', passes: true }],
    ['status 404', { status: 404, body: 'not found' }, { what: 'status 404', passes: false }],
    ['status 429', { status: 429 }, { what: 'status 429', passes: false }],
    ['a redirect', { status: 302, headers: { location: '/other' } }, { what: 'status 302', passes: false }],
    ['"OK (not found)"', { body: 'OK (not found)' }, { what: 'not found', passes: false }],
    ['"OK (rate limited)"', { body: 'OK (rate limited)' }, { what: 'rate limited', passes: false }],
    ['a broken connection', reset(), { what: 'UND_ERR_SOCKET', passes: true }],
  ])('that is answered with %s has not got through', async (_name, reply, fault) => {
    const monitoring = await startMonitoring();
    monitoring.reply(reply);
    expect(await send(START, monitoring)).toEqual(fault);
  });

  it.each([
    ['when nothing listens', 'http://127.0.0.1:1', 'ECONNREFUSED'],
    ['whose host is none', 'http://name.invalid', /^(ENOTFOUND|EAI_AGAIN)$/],
  ])('to an address %s fails without naming it', async (_name, origin, what) => {
    const fault = await send(START, { url: `${origin}/${CHECK_ID}` });
    expect(fault).toEqual({ what: expect.stringMatching(what), passes: true });
  });

  it('that is not answered fails when its time is up', async () => {
    const { url, reply } = await startMonitoring();
    reply(hang());
    expect(await send(START, { url, timeoutMs: 250 })).toEqual({ what: 'no answer within 250 ms', passes: true });
  });

  it('that is not answered ends at once if it is aborted', async () => {
    const { url, reply } = await startMonitoring();
    const stop = new AbortController();
    reply(() => stop.abort(new StoppedError()));
    await expect(send(START, { url, signal: stop.signal })).rejects.toThrow(StoppedError);
  });
});
