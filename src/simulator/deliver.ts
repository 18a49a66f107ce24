import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, failure } from './answer.ts';

type DeliverOptions = {
  now(): number;
  /** Called before the first byte leaves, with the status that the client will see, if it will. */
  onSettled(status: number | undefined): void;
};

const malformedStatuses: ReadonlyMap<unknown, number> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

/** Sends an answer the way it asks to be sent. Rejects where the client leaves during the delay. */
export async function deliver(answer: Answer, response: ServerResponse, options: DeliverOptions): Promise<void> {
  if (answer.delivery === 'never') return options.onSettled(undefined);
  if (answer.delivery === 'hung-up') {
    options.onSettled(undefined);
    response.destroy();
    return;
  }
  if (answer.delayMs !== undefined) await waitWhileOpen(answer.delayMs, response);
  const payload = encodeBody(answer.body);
  const toldAt = options.now() + (answer.clockAheadMs ?? 0);
  const cut = answer.delivery === 'cut';
  options.onSettled(cut ? undefined : answer.status);
  response.writeHead(answer.status, { Date: new Date(toldAt).toUTCString(), ...payload.headers, ...answer.headers });
  if (cut) {
    response.write(payload.bytes.subarray(0, payload.bytes.length / 2), () => response.destroy());
    return;
  }
  response.end(payload.bytes);
}

/** Answers what node could not read as HTTP, then ends the connection. */
export function refuseMalformed(error: Error, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = malformedStatuses.get('code' in error ? error.code : undefined) ?? 400;
  const reason = STATUS_CODES[status] ?? '';
  const { bytes, headers } = encodeBody(failure(status, reason).body);
  const lines = Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('\r\n')}\r\n\r\n${bytes}`, () => socket.destroy());
}

async function waitWhileOpen(delayMs: number, response: ServerResponse): Promise<void> {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  await sleep(delayMs, undefined, { signal: closed.signal });
}

function encodeBody(body: Answer['body']): { bytes: Buffer; headers: Record<string, string> } {
  if (body === undefined) return { bytes: Buffer.alloc(0), headers: {} };
  const page = typeof body === 'string';
  const bytes = Buffer.from(page ? body : JSON.stringify(body));
  const type = page ? 'text/html; charset=utf-8' : 'application/json';
  return { bytes, headers: { 'Content-Type': type, 'Content-Length': String(bytes.length) } };
}
