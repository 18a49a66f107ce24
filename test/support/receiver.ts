import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openPort } from './port.ts';

/** A message that a receiver of webhooks got. `at` is by the monotonic clock, in ms. */
export type Received = {
  readonly id: string;
  readonly type: string;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what a message of its type holds
  readonly data: any;
  readonly headers: IncomingMessage['headers'];
  readonly path: string;
};

/** A status code, or a function that writes the response, or does not. */
type Reply = number | ((response: ServerResponse, request: IncomingMessage) => void);

/** A receiver of webhooks on loopback, which ends with the test. Its address has a secret path and query. */
export type Receiver = {
  readonly url: string;
  readonly messages: readonly Received[];
  /** The types of the messages and, of changes, their bounds: `leagues.changed 1-100`. */
  readonly told: () => readonly string[];
  /** The next replies; the last one repeats. */
  readonly reply: (...replies: readonly [Reply, ...Reply[]]) => void;
};

export const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

export async function startReceiver(): Promise<Receiver> {
  const messages: Received[] = [];
  let replies: readonly Reply[] = [204];
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { type, data } = JSON.parse(body);
    const { url: path = '', headers } = request;
    messages.push({ id: String(headers['webhook-id']), type, body, data, headers, path });
    const [reply = 204, ...others] = replies;
    if (others.length > 0) replies = others;
    if (typeof reply === 'function') reply(response, request);
    else response.writeHead(reply).end();
  });
  const { port } = await openPort(server);
  const boundsOf = ({ from_seq: from, to_seq: to }: Received['data']) => (from === undefined ? '' : ` ${from}-${to}`);
  return {
    url: `http://127.0.0.1:${port}/hooks/secret-path-of-the-receiver?key=secret-query-of-the-receiver`,
    messages,
    told: () => messages.map(({ type, data }) => `${type}${boundsOf(data)}`),
    reply: (...next) => {
      replies = next;
    },
  };
}
