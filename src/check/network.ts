import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { formatInstant, systemClock } from '../clock.ts';
import { bareHost, type ProxyServer } from '../config/proxy.ts';
import { formatAddress, type ListenAddress } from '../config/settings.ts';
import { formatDuration } from '../duration.ts';
import { SettingsError } from '../errors.ts';
import { askLive } from '../observe/probe-client.ts';
import { replyText } from '../observe/reply.ts';
import { openDoor } from '../observe/server.ts';
import { unlessAborted } from '../race-abort.ts';
import { describeNetworkError } from '../service/network-error.ts';
import { type CheckResult, fail, failed, ok, warn } from './result.ts';

const LONGEST_STEP_MS = 10_000;
const DAY_MS = 86_400_000;
/** Whoever renews certificates in time has done so by then. */
const SOON_MS = 14 * DAY_MS;
const FIX_WAY = 'check LEAGUE_SYNC_BASE_URL, the network, and what may stand between, such as a firewall';

/**
 * Resolves the name, connects, and speaks TLS if the address says so; ends with the first step that fails. Nothing is
 * sent to the service. With a proxy it goes only as far as that.
 */
export async function checkWay(
  address: URL,
  proxy: ProxyServer | undefined,
  timeoutMs: number,
): Promise<readonly CheckResult[]> {
  const { hostname, port, protocol } = proxy === undefined ? address : new URL(proxy.address);
  const end = { host: bareHost(hostname), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
  const at = `${end.host}:${end.port}`;
  const limitMs = Math.min(timeoutMs, LONGEST_STEP_MS);
  const results: CheckResult[] = [];
  /** What the step gives; undefined if it fails, which is then a result. */
  const attempt = async <T>(name: string, what: string, step: Promise<T>): Promise<T | undefined> => {
    try {
      return await step;
    } catch (error) {
      results.push(failed(name, describeNetworkError(error, what, { proxy }), FIX_WAY));
      return undefined;
    }
  };
  const found = await attempt('name', `The look-up of ${end.host}`, resolve(end.host, limitMs));
  if (found === undefined) return results;
  results.push(ok('name', found));
  const begun = performance.now();
  const socket = await attempt('connection', `The connection to ${at}`, connectTo(end, limitMs));
  if (socket === undefined) return results;
  const to = proxy === undefined ? at : `the proxy ${proxy.label}`;
  results.push(ok('connection', `made to ${to} in ${formatDuration(performance.now() - begun)}`));
  const tls = proxy === undefined && (await attempt('tls', `TLS with ${at}`, checkTls(address, socket, limitMs)));
  socket.destroy();
  return tls ? [...results, tls] : results;
}

async function resolve(host: string, limitMs: number): Promise<string> {
  if (isIP(host) !== 0) return `${host} is an IP address`;
  const begun = performance.now();
  const addresses = await inTime(lookup(host, { all: true }), limitMs, 'EAI_AGAIN');
  const list = addresses.map(({ address }) => address).join(', ');
  return `${host} is ${list}, found in ${formatDuration(performance.now() - begun)}`;
}

async function connectTo(end: { readonly host: string; readonly port: number }, limitMs: number): Promise<Socket> {
  const socket = connect(end);
  try {
    await inTime(once(socket, 'connect'), limitMs);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  // From here on errors come by what is waited for.
  return socket.on('error', () => undefined);
}

async function checkTls(address: URL, socket: Socket, limitMs: number): Promise<CheckResult> {
  if (address.protocol !== 'https:') return checkClearText(address, socket);
  const host = bareHost(address.hostname);
  const name = isIP(host) === 0 ? { servername: host } : {};
  const secured = connectTls({ socket, host, ...name }).on('error', () => undefined);
  await inTime(once(secured, 'secureConnect'), limitMs);
  return describeCertificate(secured);
}

function checkClearText({ hostname }: URL, { remoteAddress = '' }: Socket): CheckResult {
  const message = `off (http to ${remoteAddress})`;
  if (/^(127\.|::1$|::ffff:127\.)/.test(remoteAddress)) return ok('tls', message);
  const danger = `${message}: credentials and tokens travel unencrypted to ${hostname}`;
  return warn('tls', danger, 'use https if the service has it');
}

function describeCertificate(secured: TLSSocket): CheckResult {
  const until = Date.parse(secured.getPeerCertificate().valid_to);
  const leftMs = until - systemClock.now();
  const message = `${secured.getProtocol()}, certificate valid until ${formatInstant(until)} (${formatDuration(leftMs)} left)`;
  if (leftMs > SOON_MS) return ok('tls', message);
  return warn('tls', message, 'ask the operator of the service to renew it');
}

/** Rejects with the code that the system has for what takes too long. */
function inTime<T>(promise: Promise<T>, limitMs: number, code = 'ETIMEDOUT'): Promise<T> {
  const timeout = AbortSignal.timeout(limitMs);
  return unlessAborted(promise, timeout).catch((error: unknown) => {
    throw error === timeout.reason ? Object.assign(new Error('too late'), { code }) : error;
  });
}

const LONGEST_LISTEN_MS = 2_000;
/** Only some users may listen below. */
const FIRST_FREE_PORT = 1_024;

/** Whether the status page can be served there, or is: `isRunning` says whether a worker may be at work on the database. */
export async function checkListening(listen: ListenAddress | 'off', isRunning: boolean): Promise<CheckResult> {
  const name = 'listen';
  const fix = 'name another address, or off';
  if (listen === 'off') return ok(name, 'off: no status page, no probes, no metrics (LEAGUE_SYNC_LISTEN)');
  const { host, port } = listen;
  const where = formatAddress(listen);
  try {
    if (port === 0) return ok(name, `any free port of ${host}`);
    if (!(await isTaken(listen))) {
      // At another port, where no one loses it, unless it is about the right to listen at this one.
      await using _door = await openDoor({ host, port: port < FIRST_FREE_PORT ? port : 0 }, async () => replyText(''));
      return ok(name, `${where} is free`);
    }
    if (isRunning && (await askLive(listen, LONGEST_LISTEN_MS)) === undefined)
      return ok(name, `the worker answers at ${where}`);
    return fail(name, `LEAGUE_SYNC_LISTEN: another program has ${where} already`, fix);
  } catch (error) {
    if (error instanceof SettingsError) return failed(name, error, fix);
    throw error;
  }
}

async function isTaken(address: ListenAddress): Promise<boolean> {
  const socket = connect(address);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(LONGEST_LISTEN_MS) });
    // A connection of a machine to itself has one address at both ends. A proxy or a firewall may answer for an address
    // that is not this machine's.
    return socket.remoteAddress === socket.localAddress;
  } catch {
    // Refused, or no address of this machine: which of the two is told by trying to listen.
    return false;
  } finally {
    socket.destroy();
  }
}
