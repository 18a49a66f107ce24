import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { failResponse, isObject, parseBody, type SimulatedResponse } from './endpoints.ts';

/** The decoded key is `a-secret-everybody-knows`. */
export const DEMO_SECRET = 'whsec_YS1zZWNyZXQtZXZlcnlib2R5LWtub3dz';
export const RECEIVER_PATH = '/_webhooks';

const KEY = Buffer.from(DEMO_SECRET.replace('whsec_', ''), 'base64');
const MAX_AGE_MS = 5 * 60_000;
// What is kept is limited, since a demo may run for weeks.
const MAX_MESSAGES = 200;

/** The request that brought a message. Its status stays undefined until the response is sent. */
type Arrival = { readonly at: number; readonly status: number | undefined };

type Message = {
  readonly arrival: Arrival;
  readonly id: string;
  readonly verified: string | true;
  readonly body: unknown;
};

export type Receiver = ReturnType<typeof createReceiver>;

/** Receives webhooks that are signed with `DEMO_SECRET`, as Standard Webhooks 1.0.0 describes them. */
export function createReceiver() {
  const messages: Message[] = [];
  return {
    /** Returns the response that the message deserves; a fault may replace it. */
    receive(arrival: Arrival, headers: IncomingHttpHeaders, bytes: Buffer): SimulatedResponse {
      const id = String(headers['webhook-id'] ?? '');
      const body = parseBody(bytes.toString());
      const refusal = findRefusal(id, headers, bytes, arrival.at) ?? (isObject(body) ? undefined : NO_OBJECT);
      messages.push({ arrival, id, verified: refusal?.body.message ?? true, body });
      if (messages.length > MAX_MESSAGES) messages.shift();
      return refusal ?? { status: 204 };
    },
    /** The newest 200 messages, oldest first. */
    list: () => messages.map(describeMessage),
    clear(): void {
      messages.length = 0;
    },
  };
}

/** Handles everything at the receiver's path but POST. Returns undefined for POST and for every other path. */
export function respondToReader(method: string, path: string, receiver: Receiver): SimulatedResponse | undefined {
  if (path !== RECEIVER_PATH || method === 'POST') return undefined;
  if (method === 'GET') return { status: 200, body: { messages: receiver.list() } };
  if (method !== 'DELETE') return failResponse(405, 'Use GET, POST, DELETE here', { Allow: 'GET, POST, DELETE' });
  receiver.clear();
  return { status: 204 };
}

const NO_OBJECT = failResponse(400, 'the body is not a JSON object');

function findRefusal(id: string, headers: IncomingHttpHeaders, bytes: Buffer, now: number) {
  const sentAt = String(headers['webhook-timestamp'] ?? '');
  const signatures = String(headers['webhook-signature'] ?? '').split(' ');
  if (id === '') return failResponse(400, 'webhook-id is missing');
  if (!/^\d+$/.test(sentAt)) return failResponse(400, 'webhook-timestamp must be in seconds since 1970');
  const signature = createHmac('sha256', KEY).update(`${id}.${sentAt}.`).update(bytes).digest('base64');
  if (!signatures.includes(`v1,${signature}`))
    return failResponse(401, 'webhook-signature has no signature made with the secret of the simulated service');
  const isRecent = Math.abs(now - Number(sentAt) * 1_000) <= MAX_AGE_MS;
  return isRecent ? undefined : failResponse(401, 'webhook-timestamp is more than 5 minutes off');
}

function describeMessage({ arrival, id, verified, body }: Message) {
  return { id, received_at: new Date(arrival.at).toISOString(), verified, status: arrival.status ?? null, body };
}
