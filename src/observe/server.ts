import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { isLoopback, normalizeHost, parseHost } from '../config/host.ts';
import { formatAddress, type ListenAddress } from '../config/setting-definitions.ts';
import { AddressError, codeOf, SettingsError } from '../errors.ts';

export type Request = {
  readonly method: string;
  /** Empty if the request has no valid URL. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Whether the data may be shown under the host that the request names. */
  readonly isHostAllowed: boolean;
  /** Aborts when the client has closed the connection. */
  readonly gone: AbortSignal;
  /** Keeps the connection open although nothing is sent for `ms`. */
  readonly hold: (ms: number) => void;
};

export type Response = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type Handler = (request: Request) => Response | Promise<Response>;

export type Routes = Readonly<Record<string, Handler>>;

export function textResponse(body: string, status = 200, headers: Response['headers'] = {}): Response {
  return { status, headers: { 'Content-Type': 'text/plain; charset=UTF-8', ...headers }, body };
}

export function jsonResponse(value: unknown, status = 200, headers: Response['headers'] = {}): Response {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

/** A JSON object of `members`, written already, and of `others`. */
export function jsonTextResponse(members: string, others: object): Response {
  const response = jsonResponse(others);
  return { ...response, body: `{${members},${response.body.slice(1)}` };
}

/** Limits for clients that hold a connection without sending a request. */
const HEADERS_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 5_000;
const CHECK_EVERY_MS = 1_000;
/** A client that reads nothing for this long is disconnected, to free the memory of its response. */
const STALLED_MS = 10_000;
/** Far more than a browser, a few probes and a scraper need. For one more, the one that has been idle longest is closed. */
const MAX_CONNECTIONS = 512;
/** The maximum number of unanswered (pipelined) requests per connection; browsers send one at a time. */
const MOST_UNANSWERED = 8;
const MAX_HEADERS_BYTES = 16_384;
/** Shorter answers fit into a few packets anyway. */
const MIN_COMPRESSED_BYTES = 8_192;
const compress = promisify(gzip);

/** Stands for the host of a request that names none. */
const NO_HOST = 'none.invalid';

/** Rejects with a SettingsError; with an AddressError if listening may succeed later. `handle` must never reject. */
export async function startServer(
  address: ListenAddress,
  handle: (request: Request) => Promise<Response>,
  { allowedHosts = [] }: { readonly allowedHosts?: readonly string[] } = {},
) {
  const options = {
    maxHeaderSize: MAX_HEADERS_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
  };
  const listener: RequestListener = async (request, response) => {
    const { method = '', url: target = '', headers: received, socket } = request;
    // An error here means that the client has closed the connection.
    response.on('error', () => undefined);
    const url = URL.parse(target.startsWith('/') ? `http://${received.host || NO_HOST}${target}` : target);
    const { pathname: path = '', hostname = NO_HOST, searchParams: query = new URLSearchParams() } = url ?? {};
    const isHostAllowed = isAllowedHost(hostname, boundTo, allowedHosts);
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    const hold = (ms: number): unknown => socket.setTimeout(ms + STALLED_MS);
    const { status, headers, body } = await handle({ method, path, query, isHostAllowed, gone: closed.signal, hold });
    socket.setTimeout(STALLED_MS);
    const length = Buffer.byteLength(body);
    const isLong = length >= MIN_COMPRESSED_BYTES;
    const head = { ...headers, ...(isLong && { Vary: 'Accept-Encoding' }) };
    if (!isLong || !acceptsGzip(received['accept-encoding'])) {
      response.writeHead(status, { ...head, 'Content-Length': length });
      response.end(method === 'HEAD' ? undefined : body);
      return;
    }
    // Nothing is compressed to learn the length of an answer without a body.
    const compressed = method === 'HEAD' ? undefined : await compress(body);
    const size = compressed && { 'Content-Length': compressed.length };
    response.writeHead(status, { ...head, 'Content-Encoding': 'gzip', ...size });
    response.end(compressed);
  };
  const server = createServer(options);
  let boundTo = address.host;
  limitConnections(server, listener);
  server.timeout = STALLED_MS;
  try {
    await listen(server, address);
  } catch (error) {
    const ListenError = MAY_PASS.has(codeOf(error)) ? AddressError : SettingsError;
    throw new ListenError([
      { message: `LEAGUE_SYNC_LISTEN: ${explain(error, address)}`, fix: 'name another address, or off' },
    ]);
  }
  const { address: host, port } = server.address() as AddressInfo;
  boundTo = host;
  return {
    url: `http://${formatAddress({ host, port })}`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Whether a server that is bound to the address `boundTo` may show its data to a browser that knows it as `host`: as
 * localhost, a loopback address or one of the `allowed` names. Otherwise a web page from elsewhere whose name leads to
 * this machine could read it (DNS rebinding). Without such names, a server that others can reach has no limit.
 */
export function isAllowedHost(host: string, boundTo: string, allowed: readonly string[]): boolean {
  if (allowed.length === 0 && !isLoopback(parseHost(boundTo) ?? boundTo)) return true;
  const name = normalizeHost(host);
  return allowed.includes(name) || (isLoopback(name) && !name.endsWith('.localhost'));
}

/** Whether an `Accept-Encoding` names gzip, or anything, and does not refuse it (`q=0`). */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  const accepted = String(header ?? '')
    .split(',')
    .map((coding) => coding.trim().split(/\s*;\s*/));
  const find = (wanted: string) => accepted.find(([name = '']) => name.toLowerCase() === wanted);
  const [, ...parameters] = find('gzip') ?? find('*') ?? ['', 'q=0'];
  return !parameters.some((parameter) => /^q=0(\.0*)?$/i.test(parameter));
}

/** Makes room for new connections, so that open ones keep no probe waiting; closes one that pipelines too much. */
function limitConnections(server: Server, listener: RequestListener): void {
  /** The number of unanswered requests of each connection; the connection that was used last is the last one. */
  const unanswered = new Map<Socket, number>();
  const add = (socket: Socket, requests: number): number => {
    const count = (unanswered.get(socket) ?? 0) + requests;
    unanswered.delete(socket);
    unanswered.set(socket, count);
    return count;
  };
  server.on('connection', (socket: Socket) => {
    if (unanswered.size >= MAX_CONNECTIONS) {
      // The request of a newer one may be under way.
      const older = [...unanswered].slice(0, MAX_CONNECTIONS / 2);
      const [oldest = socket] = older.find(([, requests]) => requests === 0) ?? older[0] ?? [];
      unanswered.delete(oldest);
      oldest.destroy();
    }
    add(socket, 0);
    socket.once('close', () => unanswered.delete(socket));
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    if (add(socket, 1) > MOST_UNANSWERED) {
      socket.destroy();
      return;
    }
    response.once('close', () => unanswered.has(socket) && add(socket, -1));
    listener(request, response);
  });
}

async function listen(server: Server, { host, port, orAnyPort = false }: ListenAddress): Promise<void> {
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (error) {
    if (!orAnyPort || codeOf(error) !== 'EADDRINUSE') throw error;
    await listen(server, { host, port: 0 });
  }
}

/** In use, not on this machine, and a name server that does not answer, as before a network is up. */
const MAY_PASS = new Set(['EADDRINUSE', 'EADDRNOTAVAIL', 'EAI_AGAIN']);

function explain(error: unknown, address: ListenAddress): string {
  const where = formatAddress(address);
  const code = codeOf(error);
  if (code === 'EADDRINUSE') return `another program already uses ${where}`;
  if (code === 'EACCES') return `this user may not listen on ${where}`;
  if (code === 'EADDRNOTAVAIL') return `this machine has no address ${address.host}`;
  if (code === 'ENOTFOUND') return `the name ${address.host} has no address`;
  if (code === 'EAI_AGAIN') return `the name ${address.host} cannot be looked up now`;
  return `cannot listen on ${where} (${code})`;
}
