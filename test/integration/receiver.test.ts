import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { makeMessage, readWebhooks, sendWebhook } from '../support/webhook.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const FIVE_MINUTES_MS = 300_000;
const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 'k').toString('base64')}`;

const Refusal = z.object({ result: z.literal('fail'), message: z.string() });

describe('a received webhook', () => {
  it('is answered 204 and shown with its body', async () => {
    await using simulator = await startSimulator({ now: () => NOW });
    const body = makeMessage({ source: 'abc', from_seq: 3, to_seq: 7, changes: [] });
    const response = await sendWebhook(simulator, { id: 'msg_a', sentAt: NOW, body });
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(await readWebhooks(simulator)).toEqual([
      { id: 'msg_a', received_at: '2026-11-20T12:00:00.000Z', verified: true, status: 204, body: JSON.parse(body) },
    ]);
  });

  it.each([
    ['without an id', { headers: { 'webhook-id': undefined } }, 400, 'webhook-id is missing'],
    ['without a timestamp', { headers: { 'webhook-timestamp': undefined } }, 400, /^webhook-timestamp must be in sec/],
    ['without a signature', { headers: { 'webhook-signature': undefined } }, 401, /no signature made with the secret/],
    ['signed with another secret', { secrets: [secretOf(24)] }, 401, /no signature made with the secret/],
    ['with another id than signed', { headers: { 'webhook-id': 'msg_2' } }, 401, /no signature made with the secret/],
    ['too old', { sentAt: NOW - FIVE_MINUTES_MS - 1_000 }, 401, 'webhook-timestamp is more than 5 minutes off'],
    ['from the future', { sentAt: NOW + FIVE_MINUTES_MS + 1_000 }, 401, 'webhook-timestamp is more than 5 minutes off'],
    ['that is a list', { body: '[]' }, 400, 'the body is not a JSON object'],
  ])('%s is refused with the reason, and shown', async (_, options, status, reason) => {
    await using simulator = await startSimulator({ now: () => NOW });
    const response = await sendWebhook(simulator, { sentAt: NOW, ...options });
    expect(response.status).toBe(status);
    const { message } = Refusal.parse(await response.json());
    expect(message).toMatch(reason);
    expect(await readWebhooks(simulator)).toMatchObject([{ verified: message, status }]);
  });
});
