import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openPort } from './port.ts';

export type Reply = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body: unknown;
  /** Rewrites the JSON text before it is sent. */
  readonly spell?: (text: string) => string;
  readonly delayMs?: number;
  /** Whether the response has a `Date` header, as it should. */
  readonly dated?: boolean;
};

/** One request to the scripted service. Times by the monotonic clock, in ms. */
export type Seen = {
  readonly endpoint: 'login' | 'profile' | 'leagues';
  readonly authorization: string;
  readonly beganAt: number;
  /** Infinite until the response has ended. */
  endedAt: number;
};

export type Service = { readonly url: string; readonly seen: readonly Seen[] };

/** A handwritten service, for responses that the simulator does not support. Ends with the test. */
export async function startService(answer: (seen: Seen, nth: number) => Reply): Promise<Service> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const entry = readRequest(request);
    seen.push(entry);
    const nth = seen.filter((other) => other.endpoint === entry.endpoint).length;
    const reply = answer(entry, nth);
    response.once('close', () => {
      entry.endedAt = performance.now();
    });
    const timer = setTimeout(() => send(response, reply), reply.delayMs ?? 0);
    response.once('close', () => clearTimeout(timer));
  });
  const { port } = await openPort(server);
  return { url: `http://127.0.0.1:${port}`, seen };
}

function readRequest({ url = '', headers }: IncomingMessage): Seen {
  const endpoint = url.includes('/login') ? 'login' : url.includes('/leagues/') ? 'leagues' : 'profile';
  return {
    endpoint,
    authorization: headers.authorization ?? '',
    beganAt: performance.now(),
    endedAt: Number.POSITIVE_INFINITY,
  };
}

function send(response: ServerResponse, reply: Reply): void {
  const { status = 200, headers = {}, body, spell = (text) => text, dated = true } = reply;
  response.sendDate = dated;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(spell(JSON.stringify(body)));
}

/** A login that is granted: section 2.1 of the interface. */
export function grantLogin(token: string, lifeMs = 3_600_000): Reply {
  const body = {
    result: 'success',
    message: 'Logged in',
    player_id: 'p-1',
    access_token: token,
    refresh_token: `refresh-${token}`,
    expire_datetime: new Date(Date.now() + lifeMs).toISOString(),
  };
  return { body };
}

/** A list of leagues: section 4.3 of the interface. */
export function listLeagues(leagues: readonly unknown[], more: Readonly<Record<string, unknown>> = {}): Reply {
  return { body: { message: 'Leagues retrieved', leagues, timestamp: new Date().toISOString(), ...more } };
}
