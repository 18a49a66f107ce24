import { createHmac, randomBytes } from 'node:crypto';
import { describeProxy } from '../config/proxy.ts';
import type { WebhookTarget } from '../config/webhook.ts';
import { TransportError } from '../errors.ts';
import { type SendRequest, sendRequest, splitAddress } from '../http/request.ts';
import { isSuccess } from '../http/response.ts';
import { readRetryAfter } from '../http/retry-after.ts';
import { type Change, changeJson } from '../store/queries/feed.ts';
import type { Message } from '../store/tables/webhook.ts';
import type { Clock } from '../time/clock.ts';
import { formatDuration } from '../time/duration.ts';
import { MAX_SUMMARY, summarizeChanges } from './summary.ts';

const MAX_CHANGES = 100;
const MAX_BODY_BYTES = 65_536;
/** Limits of one message. */
export const LIMITS = { limit: MAX_CHANGES, maxChars: MAX_BODY_BYTES } as const;
/** More than a message of changes needs besides the changes and their summary, whose characters have up to four bytes. */
const ENVELOPE_BYTES = 400 + 4 * MAX_SUMMARY;

/** `source` is the id of the database; `as_of` its last good poll. All three are null without a database. */
export type MessageOrigin = {
  readonly source: string | null;
  readonly as_of: string | null;
  readonly stale_at: string | null;
  readonly madeAt: string;
};

/** A `leagues.changed` with the first of the `changes`: as many as fit, and at least one. Undefined if there are none. */
export function makeChangesMessage(origin: MessageOrigin, changes: readonly Change[]): Message | undefined {
  const texts: string[] = [];
  let bytes = ENVELOPE_BYTES;
  for (const change of changes) {
    const text = changeJson(change);
    bytes += Buffer.byteLength(text) + 1;
    if (texts.length > 0 && bytes > MAX_BODY_BYTES) break;
    texts.push(text);
  }
  const [first, last] = [changes[0], changes[texts.length - 1]];
  if (first === undefined || last === undefined) return undefined;
  const [from, to] = [first.seq, last.seq];
  const { madeAt, ...about } = origin;
  const summary = summarizeChanges(changes.slice(0, texts.length));
  const head = JSON.stringify({ ...about, summary, from_seq: from, to_seq: to }).slice(0, -1);
  // The changes are JSON text already. Parsing them could lose digits.
  const body = `{"type":"leagues.changed","timestamp":"${last.at}","data":${head},"changes":[${texts.join(',')}]}}`;
  return { ...withId('leagues.changed', madeAt, body), message_from_seq: from, message_to_seq: to };
}

export function makeMessage(
  type: string,
  { madeAt, ...about }: MessageOrigin,
  data: Readonly<Record<string, unknown>> & { readonly summary: string },
): Message {
  const body = JSON.stringify({ type, timestamp: madeAt, data: { ...about, ...data } });
  return withId(type, madeAt, body);
}

/** The id is random, and without a dot, which separates the parts that are signed. */
function withId(type: string, madeAt: string, body: string) {
  const message_id = `msg_${randomBytes(18).toString('base64url')}`;
  return { message_id, message_type: type, message_made_at: madeAt, message_body: body };
}

/** What came of an attempt to send a message. `gone`: the receiver wants no more messages (410). */
export type Attempt = {
  readonly outcome: 'accepted' | 'failed' | 'gone';
  /** The status of the answer, if there was one. */
  readonly status?: number;
  /** Such as `status 500`. Contains neither the URL nor the body of the response, both of which may hold secrets. */
  readonly what: string;
  /** Whether the receiver may have seen the message. */
  readonly isSent: boolean;
  /** The end (ms) of the wait that `Retry-After` asks for. */
  readonly notBefore?: number | undefined;
};

const TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 64_000;
/** Error codes of connections that never came about. */
const UNSENT = /^(?!ECONNRESET|EPIPE)E|^UND_ERR_(CONNECT|PRX)|^(CERT|DEPTH|SELF|UNABLE)/;

type SendOptions = { readonly clock: Clock; readonly signal: AbortSignal; readonly send?: SendRequest };

/** Sends a message as Standard Webhooks 1.0.0 describes. Rejects with the signal's reason only. */
export async function sendMessage(
  { message_id: id, message_body: body }: Pick<Message, 'message_id' | 'message_body'>,
  { url, keys, proxy }: WebhookTarget,
  { clock, signal, send = sendRequest }: SendOptions,
): Promise<Attempt> {
  const { address, headers: authorization } = splitAddress(url);
  const signature = signMessage(id, body, Math.floor(clock.now() / 1_000), keys);
  const headers = { 'content-type': 'application/json', ...authorization, ...signature };
  const limits = { timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_RESPONSE_BYTES, isBodyOptional: true };
  const request = { method: 'POST', url: address.href, name: 'the webhook', headers, body, proxy } as const;
  try {
    const response = await send({ ...request, ...limits }, signal);
    const { status } = response;
    const outcome = isSuccess(status) ? 'accepted' : status === 410 ? 'gone' : 'failed';
    const notBefore = readRetryAfter(response, clock.now());
    return { outcome, status, isSent: true, what: `status ${status}${describeProxy(proxy)}`, notBefore };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof TransportError)) throw error;
    const what = error.code || `no answer within ${formatDuration(TIMEOUT_MS)}`;
    return { outcome: 'failed', isSent: !UNSENT.test(error.code), what: `${what}${describeProxy(proxy)}` };
  }
}

/** The headers of Standard Webhooks 1.0.0. `timestamp` is that of the attempt, in seconds. One signature for each key. */
function signMessage(id: string, body: string, timestamp: number, keys: readonly Uint8Array[]) {
  const sign = (key: Uint8Array): string =>
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': keys.map(sign).join(' '),
  };
}
