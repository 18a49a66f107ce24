import { createServer, type RequestListener } from 'node:http';
import { expect, it } from 'vitest';
import { sendRequest } from '../../src/http/request.ts';
import { openPort } from '../support/port.ts';

const LIMIT = 8;

type Wanted = { readonly isBodyOptional?: boolean; readonly timeoutMs?: number };

/** The result of a request to this server. */
async function ask(listener: RequestListener, { timeoutMs = 20_000, ...wanted }: Wanted = {}): Promise<string> {
  const { port } = await openPort(createServer(listener));
  const request = { method: 'GET', url: `http://127.0.0.1:${port}/`, name: 'GET /', ...wanted } as const;
  const limits = { timeoutMs, maxBodyBytes: LIMIT };
  const { body } = await sendRequest({ ...request, ...limits }, new AbortController().signal);
  return Buffer.from(body).toString();
}

/** Sends a body in these pieces. */
function sending(pieces: readonly string[], headers: Readonly<Record<string, string>> = {}): RequestListener {
  return (_, response) => {
    response.writeHead(200, headers);
    for (const piece of pieces) response.write(piece);
    response.end();
  };
}

/** Sends a body that never ends. */
const endless: RequestListener = (_, response) => {
  response.on('error', () => undefined);
  const write = (): void => {
    while (!response.destroyed && response.write('x'.repeat(100_000)));
  };
  response.on('drain', write);
  write();
};

it.each([
  ['is not said', {}],
  ['is said', { 'content-length': '8' }],
])('a body whose length %s is read whole', async (_, headers) => {
  expect(await ask(sending(['ab', 'cdefgh'], headers))).toBe('abcdefgh');
});

it.each([{}, { 'content-length': '9' }])('a body over the limit is refused (%j)', async (headers) => {
  await expect(ask(sending(['abcd', 'efgh', 'i'], headers))).rejects.toMatchObject({
    kind: 'contract',
    message: 'The response to GET / is larger than 8 B; raise LEAGUE_SYNC_MAX_BODY if this size is expected.',
  });
});

it('a body that is too large is not read to its end', async () => {
  await expect(ask(endless)).rejects.toMatchObject({ kind: 'contract' });
});

it('a body of which only the beginning matters is truncated at the limit', async () => {
  expect(await ask(endless, { isBodyOptional: true })).toBe('xxxxxxxx');
  expect(await ask(sending(['ab']), { isBodyOptional: true })).toBe('ab');
});

it('a response that does not come in time is a timeout, which names its limit', async () => {
  await expect(ask(() => undefined, { timeoutMs: 300 })).rejects.toMatchObject({
    kind: 'timeout',
    retryable: true,
    message: 'GET / took longer than 300 ms (LEAGUE_SYNC_ATTEMPT_TIMEOUT).',
  });
});
