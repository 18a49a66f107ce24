import type { Socket } from 'node:net';

/** A response before it is serialized. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
};

/** A parsed request: request line, headers in lower case, body. */
type Asked = { readonly line: string; readonly head: string; readonly body: string };

export type Endpoint = 'login' | 'leagues' | 'profile';
export type Visited = { kind: Endpoint | 'unknown'; readonly at: number };

/** The lists and players of the service before and after its change. */
export type Lists = Readonly<Record<'old' | 'new', { readonly leagues: readonly unknown[]; readonly player: object }>>;

type State = {
  readonly lists: Lists;
  /** The only valid token; none if empty. */
  readonly session: { tokens: number; valid: string; readonly turned: boolean };
  readonly now: () => number;
};

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'POST /players/v1/authenticate/login': 'login',
  'GET /events/v1/leagues/': 'leagues',
  'GET /players/v1/players/player/me': 'profile',
};
/** Longer than any pause in a sweep. */
const TOKEN_LIFE_MS = 100 * 3_600_000;

export function kindOf({ line }: Asked): Visited['kind'] {
  return ENDPOINTS[line.replace(/ HTTP\/1\.1$/, '')] ?? 'unknown';
}

/** Reads a request; undefined if the client disconnects before it is complete. */
export async function readRequest(socket: Socket): Promise<Asked | undefined> {
  const { promise, resolve } = Promise.withResolvers<Asked | undefined>();
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    const [head = '', body] = text.split('\r\n\r\n', 2);
    const length = Number(/^content-length: *(\d+)$/im.exec(head)?.[1] ?? 0);
    if (body === undefined || body.length < length) return;
    const [line = '', ...headers] = head.split('\r\n');
    resolve({ line, head: headers.join('\n'), body });
  });
  socket.on('close', () => resolve(undefined));
  return promise;
}

/** The response of a healthy service, which rejects any token but the last one. */
export function healthyAnswer(kind: Visited['kind'], { head }: Asked, { lists, session, now }: State): Answer {
  const { leagues, player } = session.turned ? lists.new : lists.old;
  const date = new Date(now()).toUTCString();
  const answer = (status: number, body: object): Answer => ({
    status,
    headers: { date, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (kind === 'unknown') return answer(404, { result: 'fail', message: 'no such path' });
  if (kind === 'login') {
    session.tokens += 1;
    session.valid = `access-token-${session.tokens}`;
    const expire_datetime = new Date(now() + TOKEN_LIFE_MS).toISOString();
    const tokens = { access_token: session.valid, refresh_token: `refresh-token-${session.tokens}`, expire_datetime };
    return answer(200, { result: 'success', message: 'Login successful', player_id: 'p1', ...tokens });
  }
  const sent = /^authorization: *Bearer (\S+)$/im.exec(head)?.[1];
  if (session.valid === '' || sent !== session.valid) return answer(401, { result: 'fail', message: 'unknown token' });
  if (kind === 'profile') return answer(200, { message: 'ok', player, player_premium_items: [] });
  return answer(200, { message: 'ok', leagues, timestamp: date });
}

/** Serializes a response, with the length of its body unless its headers define the framing. */
export function render({ status, headers, body }: Answer): Buffer {
  const bytes = Buffer.from(body);
  const all = { 'content-length': String(bytes.length), connection: 'close', ...headers };
  const lines = Object.entries(all).filter(([, value]) => value !== '');
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Reason\r\n${head}\r\n`), bytes]);
}
