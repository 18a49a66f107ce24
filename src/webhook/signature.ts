import { createHmac } from 'node:crypto';

/** The headers of Standard Webhooks 1.0.0. `timestamp` is that of the attempt, in seconds. One signature for each key. */
export function signMessage(id: string, body: string, timestamp: number, keys: readonly Uint8Array[]) {
  const sign = (key: Uint8Array): string =>
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': keys.map(sign).join(' '),
  };
}
