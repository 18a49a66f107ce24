import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Random } from '../../../src/simulator/churn.ts';
import { openPort } from '../../support/port.ts';

/** What the receiver does with a request. `lost` and `cut` take the message, but the answer does not arrive whole. */
export type Conduct =
  | 'accepted'
  | 'lost'
  | 'cut'
  | 'hung'
  | 'closed unread'
  | 'closed'
  | 'redirected'
  | 'refused'
  | 'limited';

/** A request whose body has arrived, or whose connection the receiver closed before that (then without `body`). */
export type Attempt = {
  readonly id: string;
  /** The number of the process that sent it. */
  readonly life: number;
  readonly conduct: Conduct;
  /** By the monotonic clock, in ms. */
  readonly at: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer | undefined;
};

export type Receiver = {
  /** With a path and a query that are secrets. */
  readonly url: string;
  readonly attempts: readonly Attempt[];
  /** How many answers were sent whole. */
  readonly answers: () => number;
  /** Counts the processes that send. */
  readonly nextLife: () => number;
  /** Ends the hanging: everything else goes on failing. */
  readonly calm: () => void;
};

export const SECRET = `whsec_${Buffer.from('a secret of the webhook rig').toString('base64')}`;
const KEY = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
const PATH = '/hooks/path-of-the-webhook-rig?token=query-of-the-webhook-rig';
const FAILURES: readonly Conduct[] = ['hung', 'closed unread', 'closed', 'redirected', 'refused', 'limited', 'lost'];
const SHARE_OF_FAILURES = 1 / 3;
const SHARE_OF_CUT = 0.05;

/** Starts a receiver that fails one time in three. It ends with the test. */
export async function startReceiver(random: Random): Promise<Receiver> {
  const attempts: Attempt[] = [];
  let [life, answers, isCalm] = [0, 0, false];
  const choose = (): Conduct => {
    if (random() >= SHARE_OF_FAILURES) return random() < SHARE_OF_CUT ? 'cut' : 'accepted';
    const conduct = FAILURES[Math.floor(random() * FAILURES.length)] ?? 'refused';
    return isCalm && conduct === 'hung' ? 'refused' : conduct;
  };
  const server = createServer(async (request, response) => {
    const [conduct, at, { headers }] = [choose(), performance.now(), request];
    const note = (body: Buffer | undefined): void => {
      attempts.push({ id: String(headers['webhook-id']), life, conduct, at, headers, body });
    };
    response.once('finish', () => {
      answers += 1;
    });
    if (request.url !== PATH) throw new Error(`the receiver got a request for ${request.url}`);
    if (conduct === 'closed unread') {
      note(undefined);
      request.socket.destroy();
      return;
    }
    // A process that is killed may have sent a part of it.
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    note(body);
    answer(response, conduct);
  });
  const { port } = await openPort(server);
  return {
    url: `http://127.0.0.1:${port}${PATH}`,
    attempts,
    answers: () => answers,
    nextLife: () => {
      life += 1;
      return life;
    },
    calm: () => {
      isCalm = true;
    },
  };
}

function answer(response: ServerResponse, conduct: Conduct): void {
  const { socket } = response;
  switch (conduct) {
    case 'accepted':
      response.writeHead(204).end();
      break;
    case 'cut':
      response.writeHead(200, { 'content-length': 1_000 }).write('half', () => socket?.destroy());
      break;
    case 'redirected':
      // Whoever follows it is noticed by the path.
      response.writeHead(301, { location: '/elsewhere' }).end();
      break;
    case 'refused':
      response.writeHead(500).end('no');
      break;
    case 'limited':
      response.writeHead(429, { 'retry-after': '1' }).end();
      break;
    case 'closed':
    case 'lost':
      socket?.destroy();
      break;
    default:
      break;
  }
}

/** Whether one of the signatures is right. */
export function isSigned({ id, headers, body = Buffer.alloc(0) }: Attempt): boolean {
  const content = Buffer.concat([Buffer.from(`${id}.${headers['webhook-timestamp']}.`), body]);
  const signature = `v1,${createHmac('sha256', KEY).update(content).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(signature);
}
