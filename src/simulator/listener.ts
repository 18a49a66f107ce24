import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Answer } from './answer.ts';
import { type Credentials, checkBasic, readBearer } from './authorization.ts';
import { answerControl, type Controls } from './control.ts';
import { deliver } from './deliver.ts';
import { answerRequest, findEndpoint, type Service, type ServiceRequest } from './endpoint.ts';
import type { Random } from './random.ts';
import type { RequestRecord } from './record.ts';
import type { Switchboard } from './switchboard.ts';

const MOST_BODY_BYTES = 64 * 1024;

type ListenerParts = {
  readonly service: Service;
  readonly credentials: Credentials;
  readonly switchboard: Switchboard;
  readonly onSwitched: Controls['onSwitched'];
  readonly record: RequestRecord;
  readonly random: Random;
};

/** Takes each request from its arrival to its answer: control paths first, then faults, then the service. */
export function createListener(parts: ListenerParts): RequestListener {
  return (request, response) => {
    const { path } = readTarget(request);
    const control = answerControl(request.method ?? '', path, { ...parts, requests: parts.record.requests });
    const handled =
      control === undefined
        ? serve(request, response, parts)
        : deliver(control, response, { now: parts.service.now, onSettled: () => {} });
    // A client that leaves in mid-request ends here, and must not end the process.
    handled.catch(() => response.destroy());
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, parts: ListenerParts): Promise<void> {
  const { service, record } = parts;
  const arrived = readHead(request, parts);
  const endpoint = findEndpoint(arrived.path);
  const settle = record.begin({
    at: service.now(),
    method: arrived.method,
    path: request.url ?? '',
    token: arrived.token,
    basic: endpoint === 'login' ? arrived.basic : undefined,
  });
  try {
    const answer = answerWithFaults({ ...arrived, body: await readBody(request) }, parts);
    await deliver(answer, response, { now: service.now, onSettled: settle });
  } finally {
    settle(undefined);
  }
}

function answerWithFaults(request: ServiceRequest, { service, switchboard, random }: ListenerParts): Answer {
  const endpoint = findEndpoint(request.path);
  const answer = switchboard.answerInstead(endpoint) ?? answerRequest(request, service);
  return switchboard.alter(answer, { endpoint, now: service.now(), random, ifNoneMatch: request.ifNoneMatch });
}

function readHead(request: IncomingMessage, { service, credentials }: ListenerParts): Omit<ServiceRequest, 'body'> {
  const { authorization } = request.headers;
  return {
    method: request.method ?? '',
    ...readTarget(request),
    token: service.tokens.check(readBearer(authorization), service.now()),
    basic: checkBasic(authorization, credentials),
    contentType: request.headers['content-type'],
    ifNoneMatch: request.headers['if-none-match'],
  };
}

function readTarget({ url = '' }: IncomingMessage): { path: string; query: URLSearchParams } {
  // A proxy sends the whole address, everyone else the path, and `*` or garbage is neither.
  const target = URL.parse(url.startsWith('/') ? `http://simulator${url}` : url);
  return { path: target?.pathname ?? url, query: target?.searchParams ?? new URLSearchParams() };
}

/** Resolves with undefined for a body over the limit, rejects where the client leaves in mid-body. */
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
