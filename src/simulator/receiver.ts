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

type Message = { readonly arrival: Arrival; readonly id: string; readonly bytes: Buffer; readonly refusal?: Refusal };

type Refusal = { readonly status: 400 | 401; readonly reason: string };

export type Receiver = ReturnType<typeof createReceiver>;

/** Receives webhooks that are signed with `DEMO_SECRET`, as Standard Webhooks 1.0.0 describes them. */
export function createReceiver() {
  const messages: Message[] = [];
  return {
    /** Returns the response that the message deserves; a fault may replace it. */
    receive(arrival: Arrival, headers: IncomingHttpHeaders, bytes: Buffer): SimulatedResponse {
      const id = String(headers['webhook-id'] ?? '');
      const refusal = findRefusal(id, headers, bytes, arrival.at);
      messages.push({ arrival, id, bytes, ...(refusal && { refusal }) });
      if (messages.length > MAX_MESSAGES) messages.shift();
      return refusal === undefined ? { status: 204 } : failResponse(refusal.status, refusal.reason);
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

function findRefusal(id: string, headers: IncomingHttpHeaders, bytes: Buffer, now: number): Refusal | undefined {
  const sentAt = String(headers['webhook-timestamp'] ?? '');
  const signatures = String(headers['webhook-signature'] ?? '').split(' ');
  if (id === '') return { status: 400, reason: 'webhook-id is missing' };
  if (!/^\d+$/.test(sentAt)) return { status: 400, reason: 'webhook-timestamp must be in seconds since 1970' };
  const signature = createHmac('sha256', KEY).update(`${id}.${sentAt}.`).update(bytes).digest('base64');
  if (!signatures.includes(`v1,${signature}`))
    return { status: 401, reason: 'webhook-signature has no signature made with the secret of the simulated service' };
  const isRecent = Math.abs(now - Number(sentAt) * 1_000) <= MAX_AGE_MS;
  if (!isRecent) return { status: 401, reason: 'webhook-timestamp is more than 5 minutes off' };
  return isObject(parseBody(bytes.toString())) ? undefined : { status: 400, reason: 'the body is not a JSON object' };
}

function describeMessage({ arrival, id, bytes, refusal }: Message) {
  const received_at = new Date(arrival.at).toISOString();
  return {
    id,
    received_at,
    verified: refusal?.reason ?? true,
    status: arrival.status ?? null,
    body: parseBody(bytes.toString()),
  };
}
