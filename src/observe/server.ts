import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { formatAddress, type ListenAddress } from '../config/settings.ts';
import { codeOf, SettingsError } from '../errors.ts';

export type Request = {
  readonly method: string;
  /** Empty if the request has no valid URL. */
  readonly path: string;
  readonly query: URLSearchParams;
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

export function jsonResponse(value: unknown, status = 200): Response {
  return jsonTextResponse(JSON.stringify(value), status);
}

export function jsonTextResponse(body: string, status = 200): Response {
  return { status, headers: { 'Content-Type': 'application/json' }, body };
}

/** Limits for clients that hold a connection without sending a request. */
const HEADERS_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 5_000;
const CHECK_EVERY_MS = 1_000;
/** A client that reads nothing for this long is disconnected, to free the memory of its response. */
const STALLED_MS = 10_000;
/** Far more than a browser, a few probes and a scraper need. */
const MAX_CONNECTIONS = 512;
/** The maximum number of unanswered (pipelined) requests per connection; browsers send one at a time. */
const MOST_UNANSWERED = 8;
const MAX_HEADERS_BYTES = 16_384;

/** Rejects with a SettingsError if listening fails. `handle` must never reject. Disposing closes all connections. */
export async function startServer(address: ListenAddress, handle: (request: Request) => Promise<Response>) {
  const options = {
    maxHeaderSize: MAX_HEADERS_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
  };
  const listener: RequestListener = async ({ method = '', url: target = '', headers: received }, response) => {
    // An error here means that the client has closed the connection.
    response.on('error', () => undefined);
    const url = URL.parse(target.startsWith('/') ? `http://${received.host || 'localhost'}${target}` : target);
    const query = url?.searchParams ?? new URLSearchParams();
    const { status, headers, body } = await handle({ method, path: url?.pathname ?? '', query });
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
    response.end(method === 'HEAD' ? undefined : body);
  };
  const server = createServer(options, refuseBursts(listener));
  server.maxConnections = MAX_CONNECTIONS;
  server.timeout = STALLED_MS;
  try {
    await listen(server, address);
  } catch (error) {
    throw new SettingsError([
      { message: `LEAGUE_SYNC_LISTEN: ${explain(error, address)}`, fix: 'name another address, or off' },
    ]);
  }
  const { address: host, port } = server.address() as AddressInfo;
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

/** Closes a connection that pipelines too many requests, since answering them all would delay polls and probes. */
function refuseBursts(listener: RequestListener): RequestListener {
  const unanswered = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    const count = (unanswered.get(socket) ?? 0) + 1;
    if (count > MOST_UNANSWERED) {
      socket.destroy();
      return;
    }
    unanswered.set(socket, count);
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    listener(request, response);
  };
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

function explain(error: unknown, address: ListenAddress): string {
  const where = formatAddress(address);
  const code = codeOf(error);
  if (code === 'EADDRINUSE') return `another program already uses ${where}`;
  if (code === 'EACCES') return `this user may not listen on ${where}`;
  if (code === 'EADDRNOTAVAIL') return `this machine has no address ${address.host}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the name ${address.host} has no address`;
  return `cannot listen on ${where} (${code})`;
}
