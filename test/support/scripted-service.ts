import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** One response of the scripted service, or a function that writes to the socket itself. */
export type Reply = PlainReply | ((response: ServerResponse) => void);

type PlainReply = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
};

/** A request as it arrived. */
export type SeenRequest = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** By the monotonic clock, in ms. */
  readonly at: number;
};

export type Kind = 'login' | 'leagues' | 'profile';

/** A service with scripted responses. The last response of a kind repeats. */
export type ScriptedService = AsyncDisposable & {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** The requests of one kind, oldest first. */
  readonly seen: (kind: Kind) => readonly SeenRequest[];
  /** The responses to the next requests of this kind, in this order; replaces what was scripted before. */
  readonly script: (kind: Kind, ...replies: readonly Reply[]) => void;
};

const PATHS: Readonly<Record<string, Kind>> = {
  'POST /players/v1/authenticate/login': 'login',
  'GET /events/v1/leagues/': 'leagues',
  'GET /players/v1/players/player/me': 'profile',
};

/** Starts a service on loopback that by default grants logins and lists nothing. */
export async function startScriptedService(prefix = ''): Promise<ScriptedService> {
  const requests: SeenRequest[] = [];
  const scripts: Record<Kind, Reply[]> = {
    login: [granted()],
    leagues: [leaguesAnswer([])],
    profile: [json({ message: 'ok', player: { player_id: 'p1' }, player_premium_items: [] })],
  };
  const server = createServer(async (request, response) => {
    const seen = await read(request);
    requests.push(seen);
    const kind = kindOf(seen, prefix);
    const script = kind === undefined ? [] : scripts[kind];
    send(response, (script.length > 1 ? script.shift() : script[0]) ?? { status: 404, body: 'no such path' });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP port was bound');
  return {
    url: `http://127.0.0.1:${address.port}${prefix}`,
    requests,
    seen: (kind) => requests.filter((request) => kindOf(request, prefix) === kind),
    script: (kind, ...replies) => {
      scripts[kind] = [...replies];
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function kindOf({ method, path }: SeenRequest, prefix: string): Kind | undefined {
  const [bare = ''] = path.split('?', 1);
  return bare.startsWith(prefix) ? PATHS[`${method} ${bare.slice(prefix.length)}`] : undefined;
}

async function read(request: IncomingMessage): Promise<SeenRequest> {
  const at = performance.now();
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { method = '', url = '', headers } = request;
  return { method, path: url, headers, body: Buffer.concat(chunks).toString('utf8'), at };
}

/** Sends the response. */
export function send(response: ServerResponse, reply: Reply): void {
  if (typeof reply === 'function') {
    reply(response);
    return;
  }
  const { status = 200, headers = {}, body = '' } = reply;
  response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
  response.end(body);
}

/** An answer in JSON; `value` may be JSON text already, for numbers that JavaScript cannot write. */
export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): PlainReply {
  const body = typeof value === 'string' ? value : JSON.stringify(value);
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

export function failed(status: number, headers: Readonly<Record<string, string>> = {}): PlainReply {
  return json({ result: 'fail', message: `failed with ${status}` }, status, headers);
}

let logins = 0;

/** A successful login; each one has new tokens with a lifetime of an hour. */
export function granted(
  fields: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
) {
  return (response: ServerResponse): void => {
    logins += 1;
    const body = {
      result: 'success',
      message: 'Login successful',
      player_id: 'p1',
      access_token: `access-token-${logins}`,
      refresh_token: `refresh-token-${logins}`,
      expire_datetime: new Date(Date.now() + 3_600_000).toISOString(),
      ...fields,
    };
    send(response, json(body, 200, headers));
  };
}

/** A leagues answer; elements that are strings are JSON text already. */
export function leaguesAnswer(
  elements: readonly unknown[],
  fields: Readonly<Record<string, unknown>> = {},
): PlainReply {
  const list = elements.map((element) => (typeof element === 'string' ? element : JSON.stringify(element))).join(',');
  const rest = JSON.stringify({ message: 'ok', timestamp: '2026-11-20T12:00:00Z', ...fields }).slice(1, -1);
  return json(`{${rest},"leagues":[${list}]}`);
}

/** Accepts the request and never responds. */
export function hang(): Reply {
  return () => undefined;
}

/** Breaks the connection without a response. */
export function reset(): Reply {
  return (response) => {
    response.socket?.destroy();
  };
}

/** Promises the whole body, sends half of it, and breaks the connection. */
export function cut(body: string): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.write(body.slice(0, body.length / 2), () => response.socket?.destroy());
  };
}

/** Sends a byte of the body every few ms, for ever. */
export function trickle(everyMs: number): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), everyMs);
    response.on('close', () => clearInterval(timer));
  };
}
