import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { failResponse, isObject, type SimulatedResponse } from './endpoints.ts';

/** The decoded key is `a-secret-everybody-knows`. */
export const DEMO_SECRET = 'whsec_YS1zZWNyZXQtZXZlcnlib2R5LWtub3dz';
export const RECEIVER_PATH = '/_webhooks';

const MAX_AGE_MS = 5 * 60_000;
// What is kept is limited, since a demo may run for weeks.
const MAX_MESSAGES = 1_000;
const MAX_BYTES = 16 * 2 ** 20;

/** The request that brought a message. Its status stays undefined until the response is sent. */
type Arrival = { readonly at: number; readonly status: number | undefined };

type Received = { readonly id: string; readonly headers: IncomingHttpHeaders; readonly bytes: Buffer };

type Message = {
  readonly arrival: Arrival;
  readonly id: string;
  readonly bytes: Buffer;
  readonly refusal: Refusal | undefined;
  /** How many requests had this id before. */
  readonly repeats: number;
  readonly hash: string;
  /** The hash of the first body with this id, which may no longer be kept. */
  readonly firstHash: string;
};

type Refusal = { readonly status: 400 | 401; readonly reason: string };

export type Receiver = ReturnType<typeof createReceiver>;

/**
 * Receives webhooks as Standard Webhooks 1.0.0 describes them. `secrets` is one secret, or two with a space between.
 * Throws a RangeError if it is anything else.
 */
export function createReceiver(secrets: string) {
  const keys = readKeys(secrets);
  const messages: Message[] = [];
  let size = 0;
  return {
    /** Returns the response that the message deserves; a fault may replace it. */
    receive(arrival: Arrival, headers: IncomingHttpHeaders, bytes: Buffer): SimulatedResponse {
      const id = String(headers['webhook-id'] ?? '');
      const refusal = checkSignature({ id, headers, bytes }, keys, arrival.at) ?? checkBody(bytes);
      const hash = createHash('sha256').update(bytes).digest('base64');
      const before = messages.findLast((message) => message.id === id);
      const { repeats, firstHash } = before ?? { repeats: -1, firstHash: hash };
      messages.push({ arrival, id, bytes, refusal, repeats: repeats + 1, hash, firstHash });
      size += bytes.length;
      while (messages.length > MAX_MESSAGES || size > MAX_BYTES) size -= messages.shift()?.bytes.length ?? 0;
      return refusal === undefined ? { status: 204 } : failResponse(refusal.status, refusal.reason);
    },
    /** The newest 1,000 messages (fewer if they have more than 16 MB), oldest first. */
    list: () => messages.map(describeMessage),
    clear(): void {
      messages.length = 0;
      size = 0;
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

function readKeys(secrets: string): readonly Buffer[] {
  const keys = secrets.split(' ').map((secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  const again = keys.map((key) => `whsec_${key.toString('base64')}`).join(' ');
  const areSound = keys.length <= 2 && keys.every(({ length }) => length >= 24 && length <= 64) && again === secrets;
  // The message does not repeat the secret.
  if (!areSound)
    throw new RangeError('a webhook secret is whsec_ and 24 to 64 bytes in base64; two need a space between');
  return keys;
}

function checkSignature({ id, headers, bytes }: Received, keys: readonly Buffer[], now: number): Refusal | undefined {
  const sentAt = String(headers['webhook-timestamp'] ?? '');
  const signatures = String(headers['webhook-signature'] ?? '').split(' ');
  if (id === '') return { status: 400, reason: 'webhook-id is missing' };
  if (!/^\d+$/.test(sentAt)) return { status: 400, reason: 'webhook-timestamp must be in seconds since 1970' };
  const sign = (key: Buffer) => createHmac('sha256', key).update(`${id}.${sentAt}.`).update(bytes).digest('base64');
  const isSigned = keys.some((key) => signatures.includes(`v1,${sign(key)}`));
  if (!isSigned) return { status: 401, reason: 'webhook-signature has no signature made with an accepted secret' };
  const isRecent = Math.abs(now - Number(sentAt) * 1_000) <= MAX_AGE_MS;
  return isRecent ? undefined : { status: 401, reason: 'webhook-timestamp is more than 5 minutes off' };
}

function checkBody(bytes: Buffer): Refusal | undefined {
  const body = parseBody(bytes);
  if (body === undefined) return { status: 400, reason: 'the body is not JSON' };
  const { type, timestamp, data } = isObject(body) ? body : {};
  const isComplete = typeof type === 'string' && !Number.isNaN(Date.parse(String(timestamp))) && isObject(data);
  return isComplete ? undefined : { status: 400, reason: 'the body lacks a type, a timestamp or an object as data' };
}

function parseBody(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

function describeMessage({ arrival, id, bytes, refusal, repeats, hash, firstHash }: Message) {
  const body = parseBody(bytes);
  const { type, data } = isObject(body) ? body : {};
  const { from_seq, to_seq } = isObject(data) ? data : {};
  const received_at = new Date(arrival.at).toISOString();
  const outcome = { verified: refusal === undefined ? true : refusal.reason, status: arrival.status ?? null };
  return { id, type, received_at, ...outcome, from_seq, to_seq, repeats, same_bytes: hash === firstHash, body };
}
