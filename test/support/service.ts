import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { openPort, type Port } from './port.ts';

type Headers = Readonly<Record<string, string | string[]>>;
type Fields = Readonly<Record<string, unknown>>;

export type PlainReply = {
  readonly status?: number;
  readonly headers?: Headers;
  readonly body?: string | Uint8Array;
  readonly delayMs?: number;
};

/** A response, or a function that returns it at the request or writes to the socket itself. */
export type Reply =
  | PlainReply
  | ((response: ServerResponse, seen: Seen) => Reply)
  | ((response: ServerResponse, seen: Seen) => void);

export type Kind = 'login' | 'leagues' | 'profile';

/** A request as it arrived. Times by the monotonic clock, in ms. */
export type Seen = {
  readonly kind: Kind | 'other';
  /** Its number among the requests of its kind, from 1. */
  readonly nth: number;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly authorization: string;
  body: string;
  readonly beganAt: number;
  /** When the response had ended, or its connection. Infinite until then. */
  endedAt: number;
};

export type Service = Port & {
  readonly url: string;
  readonly requests: readonly Seen[];
  /** The requests of one kind, oldest first. */
  readonly seen: (kind: Kind) => readonly Seen[];
  /**
   * The responses to the next requests of this kind, in this order; the last one repeats. Replaces what was scripted
   * before.
   */
  readonly script: (kind: Seen['kind'], ...replies: readonly Reply[]) => void;
};

/** The first replies by kind. */
export type Replies = Readonly<Partial<Record<Seen['kind'], Reply | readonly Reply[]>>>;

const PATHS = [
  [/^POST .*\/players\/v1\/authenticate\/login$/, 'login'],
  [/^GET .*\/events\/v1\/leagues\/$/, 'leagues'],
  [/^GET .*\/players\/v1\/players\/player\/me$/, 'profile'],
] as const;

/**
 * A handwritten service on loopback, for responses that the simulator does not support. By default it grants logins and
 * lists nothing. It ends with the test, or when it is disposed of, as concurrent tests have to.
 */
export async function startService(replies: Replies = {}): Promise<Service> {
  const requests: Seen[] = [];
  const seen = (kind: Seen['kind']) => requests.filter((request) => request.kind === kind);
  const scripts: Record<Seen['kind'], readonly Reply[]> = {
    login: [grantLogin()],
    leagues: [listLeagues([])],
    profile: [json({ message: 'ok', player: { player_id: 'p1' }, player_premium_items: [] })],
    other: [{ status: 404, body: 'no such path' }],
  };
  const script: Service['script'] = (kind, ...next) => {
    scripts[kind] = next;
  };
  for (const [kind, given] of Object.entries(replies)) script(kind as Kind, ...[given].flat());
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const asked = `${method} ${url.split('?', 1)}`;
    const kind = PATHS.find(([path]) => path.test(asked))?.[1] ?? 'other';
    const entry: Seen = {
      kind,
      nth: seen(kind).length + 1,
      method,
      path: url,
      headers,
      authorization: headers.authorization ?? '',
      body: '',
      beganAt: performance.now(),
      endedAt: Number.POSITIVE_INFINITY,
    };
    requests.push(entry);
    response.once('close', () => {
      entry.endedAt = performance.now();
    });
    // A client that is killed may not send all of it.
    entry.body = await text(request).catch(() => '');
    const [reply, ...others] = scripts[kind];
    if (others.length > 0) scripts[kind] = others;
    send(response, entry, reply);
  });
  const port = await openPort(server);
  return { ...port, url: `http://127.0.0.1:${port.port}`, requests, seen, script };
}

function send(response: ServerResponse, seen: Seen, reply: Reply | undefined): void {
  if (reply === undefined) return;
  if (typeof reply === 'function') {
    send(response, seen, reply(response, seen) as Reply | undefined);
    return;
  }
  const { status = 200, headers, body = '', delayMs = 0 } = reply;
  const end = () => response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body);
  if (delayMs === 0) {
    end();
    return;
  }
  const timer = setTimeout(end, delayMs);
  response.once('close', () => clearTimeout(timer));
}

/** An answer in JSON; `value` may be JSON text already, for numbers that JavaScript cannot write. */
export function json(value: unknown, status = 200, headers: Headers = {}) {
  const body = typeof value === 'string' ? value : JSON.stringify(value);
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

export function fail(status: number, headers: Headers = {}): PlainReply {
  return json({ result: 'fail', message: `failed with ${status}` }, status, headers);
}

let logins = 0;

/** A login that is granted, for an hour: section 2.1 of the interface. Each one has new tokens unless one is given. */
export function grantLogin(fields: Fields = {}, headers: Headers = {}) {
  return (): PlainReply => {
    logins += 1;
    const { access_token = `access-token-${logins}` } = fields;
    const body = {
      result: 'success',
      message: 'Login successful',
      player_id: 'p1',
      access_token,
      refresh_token: `refresh-${access_token}`,
      expire_datetime: new Date(Date.now() + 3_600_000).toISOString(),
      ...fields,
    };
    return json(body, 200, headers);
  };
}

/** A list of leagues: section 4.3 of the interface. Elements that are strings are JSON text already. */
export function listLeagues(elements: readonly unknown[], fields: Fields = {}, headers: Headers = {}) {
  const list = elements.map((element) => (typeof element === 'string' ? element : JSON.stringify(element))).join(',');
  const rest = JSON.stringify({ message: 'ok', timestamp: '2026-11-20T12:00:00Z', ...fields }).slice(1, -1);
  return json(`{${rest},"leagues":[${list}]}`, 200, headers);
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
