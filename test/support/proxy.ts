import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { couple, openPort } from './port.ts';

/** A request as the proxy received it. */
export type Asked = {
  readonly method: string;
  /** The whole URL; `host:port` for a tunnel. */
  readonly target: string;
  /** The `Proxy-Authorization` header. */
  readonly authorization: string | undefined;
};

/**
 * What a proxy does with a request: relays it, never answers (a tunnel), breaks the connection (without a tunnel),
 * breaks a tunnel after the first bytes of the response, or answers with a status.
 */
export type ProxyBehaviour = 'relay' | 'hang' | 'break' | 'cut' | number;

export type ProxyServer = Awaited<ReturnType<typeof startProxy>>;

const PAGE = '<html><h1>Blocked by the proxy</h1></html>';

/**
 * A proxy on loopback, which ends with the test. It connects every host to the service on this port of loopback, so
 * that no test needs name resolution or a network.
 */
export async function startProxy(service: number, behaviour: ProxyBehaviour = 'relay') {
  const asked: Asked[] = [];
  const chunks: Buffer[] = [];
  const note = ({ method = '', url = '', headers }: IncomingMessage): void => {
    asked.push({ method, target: url, authorization: headers['proxy-authorization'] });
  };
  const server = createServer((query, response) => {
    note(query);
    forward(query, response, behaviour, service);
  });
  server.on('connect', (query: IncomingMessage, client: Socket) => {
    note(query);
    openTunnel(client, behaviour, { service, record: (chunk) => chunks.push(chunk) });
  });
  const own = await openPort(server);
  return {
    ...own,
    url: `http://127.0.0.1:${own.port}`,
    asked: asked as readonly Asked[],
    /** Every byte that went through its tunnels, both ways. */
    tunnelled: (): string => Buffer.concat(chunks).toString('latin1'),
  };
}

function forward(query: IncomingMessage, response: ServerResponse, behaviour: ProxyBehaviour, service: number): void {
  if (typeof behaviour === 'number') response.writeHead(behaviour, headersOf(behaviour)).end(PAGE);
  else if (behaviour === 'relay') handOn(query, response, service);
  else query.socket.destroy();
}

function handOn(query: IncomingMessage, response: ServerResponse, service: number): void {
  const { pathname, search } = new URL(query.url ?? '');
  const { 'proxy-authorization': _, ...headers } = query.headers;
  const options = { host: '127.0.0.1', port: service, method: query.method, path: pathname + search, headers };
  const onward = request(options, (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers)));
  onward.on('error', () => query.socket.destroy());
  query.pipe(onward);
}

type Tunnel = { readonly service: number; readonly record: (chunk: Buffer) => unknown };

function openTunnel(client: Socket, behaviour: ProxyBehaviour, { service, record }: Tunnel): unknown {
  client.on('error', () => undefined);
  if (behaviour === 'hang') return undefined;
  if (typeof behaviour === 'number') {
    const headers = Object.entries(headersOf(behaviour)).map(([name, value]) => `${name}: ${value}\r\n`);
    return client.end(`HTTP/1.1 ${behaviour} No\r\n${headers.join('')}\r\n${PAGE}`);
  }
  const onward = connect(service, '127.0.0.1', () => client.write('HTTP/1.1 200 Connection established\r\n\r\n'));
  if (behaviour === 'cut') onward.once('data', () => client.destroy());
  for (const side of [client, onward]) side.on('data', record);
  return couple(client, onward);
}

/** The headers of a rejection. A 407 must name the authentication scheme: RFC 9110, 15.5.8. */
function headersOf(status: number): Readonly<Record<string, string | number>> {
  const page = { 'content-type': 'text/html', 'content-length': PAGE.length };
  return status === 407 ? { ...page, 'proxy-authenticate': 'Basic realm="office"' } : page;
}
