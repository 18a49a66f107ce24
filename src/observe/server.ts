import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { formatAddress, type ListenAddress } from '../config/settings.ts';
import { codeOf, SettingsError } from '../errors.ts';
import type { Answering } from './reply.ts';

/** Where the page, the probes and the metrics are served. Disposing closes it, and every connection. */
export type Door = AsyncDisposable & { readonly url: string };

/** Whoever has not sent a request by then, or its headers, only keeps a connection. */
const HEADERS_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 5_000;
const CHECK_EVERY_MS = 1_000;
/** Whoever takes no byte of an answer between two looks, so far apart, keeps it in memory for nothing. */
const STALLED_MS = 10_000;
/** Far more than a browser, a few probes and a scraper need; the next one is turned away at once. */
const MOST_CONNECTIONS = 512;
/** On one connection. Browsers and scrapers wait for each answer. */
const MOST_UNANSWERED = 8;
const LARGEST_HEADERS_BYTES = 16_384;

/** Begins to listen. Rejects with a SettingsError that names the address and the fix if that cannot be. */
export async function openDoor(address: ListenAddress, answering: Answering): Promise<Door> {
  const options = {
    maxHeaderSize: LARGEST_HEADERS_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
  };
  const server = createServer(options, refuseBursts(listenerOf(answering)));
  server.maxConnections = MOST_CONNECTIONS;
  server.timeout = STALLED_MS;
  try {
    await listen(server, address);
  } catch (error) {
    throw new SettingsError([
      { message: `LEAGUE_SYNC_LISTEN: ${explain(error, address)}`, fix: 'name another address, or off' },
    ]);
  }
  return { url: urlOf(server), [Symbol.asyncDispose]: () => close(server) };
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

function listenerOf(answering: Answering): RequestListener {
  return async ({ method = '', url: target = '', headers: asked }, response) => {
    // An answer to somebody who has gone is nobody's fault.
    response.on('error', () => undefined);
    const url = isHost(asked.host) ? URL.parse(target.startsWith('/') ? `http://localhost${target}` : target) : null;
    const { status, headers, body } = await answering({
      method,
      path: url?.pathname ?? '',
      query: url?.searchParams ?? new URLSearchParams(),
      isGone: () => response.destroyed,
    });
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
    response.end(method === 'HEAD' ? undefined : body);
  };
}

/** Whether it can be the name of a host, with a port or without one; old clients send none. */
function isHost(sent = 'localhost'): boolean {
  const url = URL.parse(`http://${sent}`);
  return url !== null && url.href === `http://${url.host}/`;
}

/** Cuts off whoever sends a burst of requests on one connection: all would be answered, and perhaps none be read. */
function refuseBursts(listener: RequestListener): RequestListener {
  const unanswered = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    const before = unanswered.get(socket) ?? 0;
    if (before >= MOST_UNANSWERED) {
      socket.destroy();
      return;
    }
    unanswered.set(socket, before + 1);
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    listener(request, response);
  };
}

function explain(error: unknown, address: ListenAddress): string {
  const { host } = address;
  const where = formatAddress(address);
  const code = codeOf(error);
  if (code === 'EADDRINUSE') return `another program has ${where} already`;
  if (code === 'EACCES') return `this user may not listen on ${where}`;
  if (code === 'EADDRNOTAVAIL') return `this machine has no address ${host}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the name ${host} has no address`;
  return `${where} cannot be listened on (${code})`;
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
