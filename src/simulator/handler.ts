import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './churn.ts';
import { answerControl, type Controls } from './control.ts';
import { type Answer, answerRequest, checkAuthorization, failure, findEndpoint, type Service } from './endpoints.ts';

const MOST_BODY_BYTES = 64 * 1024;

const malformedStatuses: ReadonlyMap<unknown, number> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

type HandlerParts = Controls & { readonly service: Service; readonly random: Random };

/** Takes each request from its arrival to its answer: control paths first, then faults, then the service. */
export function createHandler(parts: HandlerParts): RequestListener {
  return (request, response) => {
    const control = answerControl(request.method ?? '', readTarget(request).path, parts);
    if (control === undefined) void serve(request, response, parts);
    else send(control, response, parts.service.now());
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, parts: HandlerParts): Promise<void> {
  const { service, log, switches, random } = parts;
  const { method = '', url = '', headers } = request;
  const target = readTarget(request);
  const endpoint = findEndpoint(target.path);
  const { token, basic } = checkAuthorization(headers.authorization, service);
  const isLogin = endpoint === 'login';
  const settle = log.begin({ at: service.now(), method, path: url, token, basic: isLogin ? basic : undefined });
  try {
    const body = await readBody(request);
    const received = { method, ...target, token, basic, contentType: headers['content-type'], body };
    const context = { now: service.now(), random, ifNoneMatch: headers['if-none-match'] };
    const answer = switches.answer(endpoint, () => answerRequest(received, service), context);
    await waitWhileOpen(answer, response);
    settle(answer.delivery === undefined ? answer.status : undefined);
    send(answer, response, service.now());
  } catch {
    // The client left in mid-request, which must not end the process.
    settle(undefined);
    response.destroy();
  }
}

function readTarget({ url = '' }: IncomingMessage): { path: string; query: URLSearchParams } {
  // A proxy sends the whole address, everyone else the path, and `*` or garbage is neither.
  const target = URL.parse(url.startsWith('/') ? `http://simulator${url}` : url);
  return { path: target?.pathname ?? url, query: target?.searchParams ?? new URLSearchParams() };
}

/** Resolves with undefined for a body over the limit, rejects if the client leaves in mid-body. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    // What follows is still read, and dropped: a client that is cut off while sending never sees its 413.
    if (size > MOST_BODY_BYTES) resolve(undefined);
    else chunks.push(chunk);
  });
  request.once('end', () => resolve(Buffer.concat(chunks).toString()));
  request.on('error', reject);
  return promise;
}

/** Rejects if the client leaves during the delay. */
async function waitWhileOpen({ delayMs, delivery }: Answer, response: ServerResponse): Promise<void> {
  if (delayMs === undefined || delivery === 'never' || delivery === 'hung-up') return;
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  await sleep(delayMs, undefined, { signal: closed.signal });
}

function send(answer: Answer, response: ServerResponse, now: number): void {
  const { status, delivery, clockAheadMs = 0 } = answer;
  if (delivery === 'never') return;
  if (delivery === 'hung-up') return void response.destroy();
  const { bytes, headers } = encodeBody(answer.body);
  response.writeHead(status, { Date: new Date(now + clockAheadMs).toUTCString(), ...headers, ...answer.headers });
  if (delivery === 'cut') response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  else response.end(bytes);
}

/** Answers what node could not read as HTTP, then ends the connection. */
export function refuseMalformed(error: Error, socket: Duplex): void {
  if (!socket.writable) return void socket.destroy();
  const status = malformedStatuses.get('code' in error ? error.code : undefined) ?? 400;
  const reason = STATUS_CODES[status] ?? '';
  const { bytes, headers } = encodeBody(failure(status, reason).body);
  const lines = Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('\r\n')}\r\n\r\n${bytes}`, () => socket.destroy());
}

function encodeBody(body: Answer['body']): { bytes: Buffer; headers: Record<string, string> } {
  if (body === undefined) return { bytes: Buffer.alloc(0), headers: {} };
  const isPage = typeof body === 'string';
  const bytes = Buffer.from(isPage ? body : JSON.stringify(body));
  const type = isPage ? 'text/html; charset=utf-8' : 'application/json';
  return { bytes, headers: { 'Content-Type': type, 'Content-Length': String(bytes.length) } };
}
