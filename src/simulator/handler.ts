import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkAuthorization, findEndpoint, respond, type Service, type SimulatedResponse } from './endpoints.ts';
import { type FaultSwitches, respondToControl } from './faults.ts';
import { RECEIVER_PATH, type Receiver, respondToReader } from './receiver.ts';

type Authorization = ReturnType<typeof checkAuthorization>;

/** A received request, without tokens and passwords. */
export type LoggedRequest = {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** Undefined until the response is sent; stays undefined if no complete response is sent. */
  status: number | undefined;
  readonly token: Authorization['token'];
  /** Undefined if the request is not a login. */
  readonly basic: Authorization['basic'] | undefined;
};

type HandlerParts = {
  readonly service: Service;
  readonly receiver: Receiver;
  readonly switches: FaultSwitches;
  readonly requests: LoggedRequest[];
  /** Called once for each request that faults can affect, when it is answered, fails or is left unanswered. */
  readonly onRequest: (request: LoggedRequest) => void;
};

// The log of requests is limited, since a demo may run for weeks.
const MAX_REQUESTS = 10_000;

/** Switching faults and reading received webhooks is never faulty. Active faults may change all other responses. */
export function createHandler(parts: HandlerParts): RequestListener {
  return (request, response) => {
    const { method = '' } = request;
    const { path } = readTarget(request);
    const control = respondToControl(method, path, parts.switches) ?? respondToReader(method, path, parts.receiver);
    if (control === undefined) void serve(request, response, parts);
    else send(control, response, parts.service.now());
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, parts: HandlerParts): Promise<void> {
  const { service, receiver, switches, requests, onRequest } = parts;
  const { method = '', url = '', headers } = request;
  const target = readTarget(request);
  const endpoint = target.path === RECEIVER_PATH ? 'webhooks' : findEndpoint(target.path);
  const { token, basic } = checkAuthorization(headers.authorization, service);
  const outcome = endpoint === 'login' ? basic : undefined;
  const logged: LoggedRequest = { at: service.now(), method, path: url, status: undefined, token, basic: outcome };
  requests.push(logged);
  if (requests.length > MAX_REQUESTS) requests.shift();
  try {
    const contentType = headers['content-type'];
    const bytes = await buffer(request);
    const received = { method, ...target, token, basic, contentType, body: bytes.toString() };
    // A message is recorded even if a fault replaces the response.
    const receipt = endpoint === 'webhooks' ? receiver.receive(logged, headers, bytes) : undefined;
    const context = { now: service.now(), ifNoneMatch: headers['if-none-match'] };
    const answer = switches.respond(endpoint, () => receipt ?? respond(received, service), context);
    await waitWhileOpen(answer, response);
    if (answer.delivery === undefined) logged.status = answer.status;
    send(answer, response, service.now());
  } catch {
    // The client closed the connection. Without this `catch`, the unhandled rejection would end the process.
    response.destroy();
  } finally {
    onRequest(logged);
  }
}

function readTarget({ url = '' }: IncomingMessage): { path: string; query: URLSearchParams } {
  // The target is a path, or an absolute URL if the client uses a proxy. Other targets, such as `*`, do not parse.
  const target = URL.parse(url.startsWith('/') ? `http://simulator${url}` : url);
  return { path: target?.pathname ?? url, query: target?.searchParams ?? new URLSearchParams() };
}

/** Rejects if the client disconnects during the delay. */
async function waitWhileOpen({ delayMs, delivery }: SimulatedResponse, response: ServerResponse): Promise<void> {
  if (delayMs === undefined || delivery === 'never' || delivery === 'hung-up') return;
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  await sleep(delayMs, undefined, { signal: closed.signal });
}

function send(answer: SimulatedResponse, response: ServerResponse, now: number): void {
  const { status, headers, body, delivery, clockAheadMs = 0 } = answer;
  if (delivery === 'never') return;
  if (delivery === 'hung-up') return void response.destroy();
  const isPage = typeof body === 'string';
  const bytes = Buffer.from(isPage ? body : body === undefined ? '' : JSON.stringify(body));
  const type = isPage ? 'text/html; charset=utf-8' : 'application/json';
  const content = body === undefined ? {} : { 'Content-Type': type, 'Content-Length': String(bytes.length) };
  response.writeHead(status, { Date: new Date(now + clockAheadMs).toUTCString(), ...content, ...headers });
  if (delivery === 'cut') response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  else response.end(bytes);
}
