import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openPort } from './port.ts';
import { eventually } from './program.ts';
import { type Reply, send } from './scripted-service.ts';

/** A message as it arrived. */
export type Delivered = {
  readonly id: string;
  readonly type: string;
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>> & {
    readonly source: string;
    readonly from_seq?: number;
    readonly to_seq?: number;
  };
};

export type ScriptedReceiver = {
  /** With a path and a query that are secrets. */
  readonly url: string;
  /** Every attempt, oldest first. */
  readonly seen: readonly Delivered[];
  /** The responses to the next requests; the last one repeats. */
  readonly script: (...replies: readonly Reply[]) => void;
  /** Resolves with the attempts, when there are that many. */
  readonly waitFor: (count: number) => Promise<readonly Delivered[]>;
  /** The settings of a worker that sends to it. */
  readonly env: Readonly<Record<string, string>>;
};

const SECRET = `whsec_${Buffer.from('a secret of scripted receivers').toString('base64')}`;
const ACCEPTED: Reply = { status: 204 };

/** Starts a receiver on loopback that accepts everything unless told otherwise. It ends with the test. */
export async function startReceiver(...replies: readonly Reply[]): Promise<ScriptedReceiver> {
  const seen: Delivered[] = [];
  let script = replies.length === 0 ? [ACCEPTED] : [...replies];
  const server = createServer(async (request, response) => {
    seen.push(await read(request));
    send(response, (script.length > 1 ? script.shift() : script[0]) ?? ACCEPTED);
  });
  const { port } = await openPort(server);
  const url = `http://127.0.0.1:${port}/path-of-scripted-receivers?token=query-of-scripted-receivers`;
  return {
    url,
    seen,
    script: (...next) => {
      script = [...next];
    },
    waitFor: (count) => eventually(`${count} messages arrive`, () => seen.length >= count && seen),
    env: { LEAGUE_SYNC_WEBHOOK_URL: url, LEAGUE_SYNC_WEBHOOK_SECRET: SECRET },
  };
}

async function read(request: IncomingMessage): Promise<Delivered> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const { type, data } = text === '' ? { type: 'nothing', data: { source: '' } } : JSON.parse(text);
  return { id: String(request.headers['webhook-id']), type, text, data };
}

/** A response that is held back until it is released, with a reply. */
export function holdReply() {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const reply: Reply = (response: ServerResponse) => void promise.then((released) => send(response, released));
  return { reply, release: resolve };
}
