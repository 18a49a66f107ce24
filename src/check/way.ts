import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { formatInstant } from '../clock.ts';
import type { ProxyServer } from '../config/proxy.ts';
import { bareHost } from '../config/proxy.ts';
import { formatDuration } from '../duration.ts';
import { unlessAborted } from '../race-abort.ts';
import { describeNetworkError } from '../service/network-error.ts';
import { explain, type Finding, fail, ok, warn } from './finding.ts';

export type WayOptions = {
  /** The way there, where it is not direct. It is then looked at as far as the proxy. */
  readonly proxy: ProxyServer | undefined;
  /** For each step. */
  readonly timeoutMs: number;
  readonly now: number;
};

const LONGEST_STEP_MS = 10_000;
const DAY_MS = 86_400_000;
/** Who renews in time has done so by then. */
const SOON_MS = 14 * DAY_MS;
const FIX = 'check LEAGUE_SYNC_BASE_URL, the network, and what may stand between, such as a firewall';

/**
 * Resolves the name, connects, and speaks TLS where the address says so; ends with the first step that fails. Nothing is
 * sent to the service.
 */
export async function lookAtWay(address: URL, { proxy, timeoutMs, now }: WayOptions): Promise<readonly Finding[]> {
  const end = endOf(proxy === undefined ? address : new URL(proxy.address));
  const limitMs = Math.min(timeoutMs, LONGEST_STEP_MS);
  const failed = (name: string, what: string, error: unknown): Finding =>
    fail(name, explain(describeNetworkError(error, what, { proxy }), FIX));
  const findings: Finding[] = [];
  try {
    findings.push(ok('name', await resolve(end.host, limitMs)));
  } catch (error) {
    return [failed('name', `The look-up of ${end.host}`, error)];
  }
  let socket: Socket | undefined;
  try {
    const begun = performance.now();
    socket = await connectTo(end, limitMs);
    const took = formatDuration(performance.now() - begun);
    const to = proxy === undefined ? `${end.host}:${end.port}` : `the proxy ${proxy.label}`;
    findings.push(ok('connection', `made to ${to} in ${took}`));
  } catch (error) {
    return [...findings, failed('connection', `The connection to ${end.host}:${end.port}`, error)];
  }
  try {
    return [...findings, ...(proxy === undefined ? [await lookAtTls(address, socket, { limitMs, now })] : [])];
  } catch (error) {
    return [...findings, failed('tls', `TLS with ${end.host}:${end.port}`, error)];
  } finally {
    socket.destroy();
  }
}

type End = { readonly host: string; readonly port: number };

function endOf({ hostname, port, protocol }: URL): End {
  return { host: bareHost(hostname), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
}

async function resolve(host: string, limitMs: number): Promise<string> {
  if (isIP(host) !== 0) return `${host} is an IP address`;
  const begun = performance.now();
  const addresses = await inTime(lookup(host, { all: true }), { limitMs, code: 'EAI_AGAIN' });
  const list = addresses.map(({ address }) => address).join(', ');
  return `${host} is ${list}, found in ${formatDuration(performance.now() - begun)}`;
}

async function connectTo({ host, port }: End, limitMs: number): Promise<Socket> {
  const socket = connect({ host, port });
  try {
    await inTime(once(socket, 'connect'), { limitMs });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  // From here on whoever waits for something hears of faults by that.
  return socket.on('error', () => undefined);
}

async function lookAtTls(
  address: URL,
  socket: Socket,
  { limitMs, now }: { readonly limitMs: number; readonly now: number },
): Promise<Finding> {
  if (address.protocol !== 'https:') return lookAtClearText(address, socket);
  const host = bareHost(address.hostname);
  const name = isIP(host) === 0 ? { servername: host } : {};
  const secured = connectTls({ socket, host, ...name }).on('error', () => undefined);
  await inTime(once(secured, 'secureConnect'), { limitMs });
  return describeCertificate(secured, now);
}

function lookAtClearText({ hostname }: URL, { remoteAddress = '' }: Socket): Finding {
  const message = `off (http to ${remoteAddress})`;
  if (/^(127\.|::1$|::ffff:127\.)/.test(remoteAddress)) return ok('tls', message);
  return warn('tls', {
    message: `${message}: credentials and tokens travel unencrypted to ${hostname}`,
    fix: 'use https if the service has it',
  });
}

function describeCertificate(secured: TLSSocket, now: number): Finding {
  const until = Date.parse(secured.getPeerCertificate().valid_to);
  const message = `${secured.getProtocol()}, certificate valid until ${formatInstant(until)} (${formatDuration(until - now)} left)`;
  if (until - now > SOON_MS) return ok('tls', message);
  return warn('tls', { message, fix: 'ask the operator of the service to renew it' });
}

type Limit = { readonly limitMs: number; readonly code?: string };

/** Rejects with the code that the system has for what takes too long. */
function inTime<T>(promise: Promise<T>, { limitMs, code = 'ETIMEDOUT' }: Limit): Promise<T> {
  const timeout = AbortSignal.timeout(limitMs);
  return unlessAborted(promise, timeout).catch((error: unknown) => {
    throw error === timeout.reason ? Object.assign(new Error('too late'), { code }) : error;
  });
}
