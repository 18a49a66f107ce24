import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { normalizeHost } from '../config/host.ts';
import type { ProxyServer } from '../config/proxy.ts';
import { formatAddress, type ListenAddress } from '../config/setting-definitions.ts';
import { codeOf } from '../errors.ts';
import { describeNetworkError } from '../http/network-error.ts';
import { checkLive } from '../observe/probe-client.ts';
import { startServer, textResponse } from '../observe/server.ts';
import { unlessAborted } from '../race-abort.ts';
import { formatTimestamp, systemClock } from '../time/clock.ts';
import { DAY_MS, formatDuration } from '../time/duration.ts';
import { type CheckResult, failure, ok, warn } from './result.ts';

const STEP_TIMEOUT_MS = 10_000;
/** The check warns this long before a certificate expires. Automatic renewal usually replaces a certificate earlier. */
const RENEWAL_MS = 14 * DAY_MS;
const FIX_NETWORK = 'check LEAGUE_SYNC_BASE_URL, the network, and firewalls between';

/** Checks DNS, TCP and TLS until one fails. With a proxy, checks only DNS and TCP of the proxy. Sends no request. */
export async function checkConnection(address: URL, proxy: ProxyServer | undefined, timeoutMs: number) {
  const { hostname, port, protocol } = proxy === undefined ? address : new URL(proxy.address);
  const end = { host: normalizeHost(hostname), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
  const at = `${end.host}:${end.port}`;
  const limitMs = Math.min(timeoutMs, STEP_TIMEOUT_MS);
  const results: CheckResult[] = [];
  let step = { name: 'name', what: `The DNS lookup of ${end.host}` };
  let socket: Socket | undefined;
  try {
    results.push(ok(step.name, await resolve(end.host, limitMs)));
    step = { name: 'connection', what: `The connection to ${at}` };
    const begun = performance.now();
    // once() handles the first error. Without this listener, a later error would crash the process.
    socket = connect(end).on('error', () => undefined);
    await withTimeout(once(socket, 'connect'), limitMs);
    const to = proxy === undefined ? at : `the proxy ${proxy.label}`;
    results.push(ok(step.name, `connected to ${to} in ${formatDuration(performance.now() - begun)}`));
    step = { name: 'tls', what: `TLS with ${at}` };
    if (proxy === undefined) results.push(await checkTls(address, socket, limitMs));
  } catch (error) {
    results.push(failure(step.name, describeNetworkError(error, step.what, { proxy }), FIX_NETWORK));
  } finally {
    socket?.destroy();
  }
  return results;
}

async function resolve(host: string, limitMs: number): Promise<string> {
  if (isIP(host) !== 0) return `${host} is an IP address`;
  const begun = performance.now();
  const addresses = await withTimeout(lookup(host, { all: true }), limitMs, 'EAI_AGAIN');
  const list = addresses.map(({ address }) => address).join(', ');
  return `${host} is ${list}, resolved in ${formatDuration(performance.now() - begun)}`;
}

async function checkTls({ protocol, hostname }: URL, socket: Socket, limitMs: number): Promise<CheckResult> {
  const { remoteAddress = '' } = socket;
  if (protocol !== 'https:') {
    const message = `off (http to ${remoteAddress})`;
    if (/^(127\.|::1$|::ffff:127\.)/.test(remoteAddress)) return ok('tls', message);
    const danger = `${message}: credentials and tokens travel unencrypted to ${hostname}`;
    return warn('tls', danger, 'use https if the service has it');
  }
  const host = normalizeHost(hostname);
  const options = { socket, host, ...(isIP(host) === 0 ? { servername: host } : {}) };
  const secured = connectTls(options).on('error', () => undefined);
  await withTimeout(once(secured, 'secureConnect'), limitMs);
  const until = Date.parse(secured.getPeerCertificate().valid_to);
  const leftMs = until - systemClock.now();
  const message = `${secured.getProtocol()}, certificate valid until ${formatTimestamp(until)} (${formatDuration(leftMs)} left)`;
  if (!secured.authorized) {
    const fix = 'remove NODE_TLS_REJECT_UNAUTHORIZED, because of which any certificate is accepted';
    const why = codeOf(secured.authorizationError) || String(secured.authorizationError);
    return warn('tls', `${message}, but not verified (${why})`, fix);
  }
  if (leftMs > RENEWAL_MS) return ok('tls', message);
  return warn('tls', message, 'ask the operator of the service to renew the certificate');
}

/** Rejects after `limitMs` with an error whose system error code is `code`. */
function withTimeout<T>(promise: Promise<T>, limitMs: number, code = 'ETIMEDOUT'): Promise<T> {
  const timeout = AbortSignal.timeout(limitMs);
  return unlessAborted(promise, timeout).catch((error: unknown) => {
    throw error === timeout.reason ? Object.assign(new Error('too late'), { code }) : error;
  });
}

const PROBE_TIMEOUT_MS = 2_000;

/** The address must be free or, if `isRunning` is true, a worker must answer there. */
export async function checkListen(listen: ListenAddress | 'off', isRunning: boolean): Promise<CheckResult> {
  if (listen === 'off') return ok('listen', 'off: no status page, no probes, no metrics (LEAGUE_SYNC_LISTEN)');
  const address = formatAddress(listen);
  // If a worker answers, leaves the port alone: a worker restarting at that moment would find the port in use.
  if (isRunning && (await checkLive(listen, PROBE_TIMEOUT_MS)) === undefined)
    return ok('listen', `the worker answers at ${address}`);
  try {
    await using _server = await startServer(listen, async () => textResponse(''));
    return ok('listen', listen.port === 0 ? `any free port of ${listen.host}` : `${address} is free`);
  } catch (error) {
    return failure('listen', error, 'name another address, or off');
  }
}
