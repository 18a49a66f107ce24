import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createConnection } from '../../src/service/connection.ts';
import { openPort } from '../support/port.ts';
import { rejectionOf } from '../support/unit-error.ts';

const TOKEN = 'canary-token-4711';
const LOGIN = {
  method: 'POST',
  path: '/players/v1/authenticate/login',
  headers: {},
  body: '{}',
  purpose: 'logging in',
} as const;

/** A service that answers every request with these bytes. */
async function startRawService(answer: string): Promise<string> {
  const { port } = await openPort(createServer((socket) => socket.once('data', () => socket.end(answer))));
  return `http://127.0.0.1:${port}`;
}

/** The error of a login with this response. */
async function errorOf(answer: string): Promise<unknown> {
  const limits = { attemptTimeoutMs: 20_000, maxBodyBytes: 100_000 };
  const { transport } = createConnection({ baseUrl: await startRawService(answer), proxy: undefined, ...limits });
  return await rejectionOf(transport(LOGIN, new AbortController().signal));
}

describe('an answer to a login that is no HTTP', () => {
  const body = `{"access_token":"${TOKEN}"}`;
  const answers = [
    ['a length that is no number', `HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n${body}`],
    ['a header without a name', `HTTP/1.1 200 OK\r\n: x\r\n\r\n${body}`],
    ['no status', `HTTP/1.1 OK\r\n\r\n${body}`],
    ['a chunk whose length is no number', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n${body}`],
  ] as const;

  it.each(answers)('with %s is a fault of the network, and leaves no token on its error', async (_what, answer) => {
    const error = await errorOf(answer);
    expect(error).toMatchObject({ kind: 'network', retryable: true });
    expect(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain(TOKEN);
  });
});
