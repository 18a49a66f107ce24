import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DEMO_SECRET } from '../../src/simulator/receiver.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { makeMessage, sendWebhook } from '../support/webhook.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const FIVE_MINUTES_MS = 300_000;
const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 'k').toString('base64')}`;

const Shown = z.object({ messages: z.array(z.record(z.string(), z.unknown())) });
const Refusal = z.object({ result: z.literal('fail'), message: z.string() });

async function readMessages({ url }: Simulator) {
  return Shown.parse(await (await fetch(`${url}/_webhooks`)).json()).messages;
}

describe('a received webhook', () => {
  it('is answered 204 and shown with its body', async () => {
    await using simulator = await startSimulator({ now: () => NOW });
    const body = makeMessage({ source: 'abc', from_seq: 3, to_seq: 7, changes: [] });
    const response = await sendWebhook(simulator, { id: 'msg_a', sentAt: NOW, body });
    expect([response.status, await response.text()]).toEqual([204, '']);
    const shown = await readMessages(simulator);
    expect(shown).toEqual([
      {
        id: 'msg_a',
        type: 'leagues.changed',
        received_at: '2026-11-20T12:00:00.000Z',
        verified: true,
        status: 204,
        from_seq: 3,
        to_seq: 7,
        repeats: 0,
        same_bytes: true,
        body: JSON.parse(body),
      },
    ]);
    expect(simulator.webhooks()).toEqual(shown);
  });

  it('has no bounds if its data has none', async () => {
    await using simulator = await startSimulator();
    await sendWebhook(simulator, { body: makeMessage({ since: 'now' }, 'data.stale') });
    const [message] = await readMessages(simulator);
    expect(message).toMatchObject({ type: 'data.stale', verified: true });
    expect(message).not.toHaveProperty('from_seq');
  });

  it.each([
    ['without an id', { headers: { 'webhook-id': undefined } }, 400, 'webhook-id is missing'],
    ['without a timestamp', { headers: { 'webhook-timestamp': undefined } }, 400, /^webhook-timestamp must be in sec/],
    ['with a date as timestamp', { headers: { 'webhook-timestamp': '2026-11-20' } }, 400, /^webhook-timestamp must/],
    ['without a signature', { headers: { 'webhook-signature': undefined } }, 401, /no signature made with an accepted/],
    ['signed with another secret', { secrets: [secretOf(24)] }, 401, /no signature made with an accepted/],
    ['with another id than signed', { headers: { 'webhook-id': 'msg_2' } }, 401, /no signature made with an accepted/],
    ['sent later than signed', { headers: { 'webhook-timestamp': `${NOW / 1_000 + 1}` } }, 401, /no signature made/],
    ['too old', { sentAt: NOW - FIVE_MINUTES_MS - 1_000 }, 401, 'webhook-timestamp is more than 5 minutes off'],
    ['from the future', { sentAt: NOW + FIVE_MINUTES_MS + 1_000 }, 401, 'webhook-timestamp is more than 5 minutes off'],
    ['that is not JSON', { body: 'type=leagues.changed' }, 400, 'the body is not JSON'],
    ['that is empty', { body: '' }, 400, 'the body is not JSON'],
    ['that is a list', { body: '[]' }, 400, /^the body lacks a type/],
    ['without data', { body: '{"type":"a","timestamp":"2026-11-20T12:00:00Z"}' }, 400, /^the body lacks a type/],
    ['without a type', { body: '{"timestamp":"2026-11-20T12:00:00Z","data":{}}' }, 400, /^the body lacks a type/],
    ['without the time of the event', { body: '{"type":"a","data":{}}' }, 400, /^the body lacks a type/],
  ])('%s is refused with the reason, and shown', async (_, options, status, reason) => {
    await using simulator = await startSimulator({ now: () => NOW });
    const response = await sendWebhook(simulator, { sentAt: NOW, ...options });
    expect(response.status).toBe(status);
    const { message } = Refusal.parse(await response.json());
    expect(message).toMatch(reason);
    expect(await readMessages(simulator)).toMatchObject([{ verified: message, status }]);
  });

  it.each([-FIVE_MINUTES_MS, FIVE_MINUTES_MS])('may be sent %i ms from now', async (offset) => {
    await using simulator = await startSimulator({ now: () => NOW });
    expect((await sendWebhook(simulator, { sentAt: NOW + offset })).status).toBe(204);
  });

  it('is verified by the example that Standard Webhooks publishes', async () => {
    const example = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      sentAt: 1_614_265_330_000,
      body: '{"test": 2432232314}',
      headers: { 'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=' },
    };
    const webhookSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    await using simulator = await startSimulator({ webhookSecret, now: () => example.sentAt });
    // The signature is right, and the body is no message.
    expect((await sendWebhook(simulator, example)).status).toBe(400);
  });

  it('may be signed with either of two secrets, and have more signatures', async () => {
    const [old, next, other] = [secretOf(24), secretOf(64), secretOf(32)];
    await using simulator = await startSimulator({ webhookSecret: `${old} ${next}` });
    const statusOf = async (...secrets: string[]) => (await sendWebhook(simulator, { secrets })).status;
    expect([await statusOf(old), await statusOf(next), await statusOf(other, next)]).toEqual([204, 204, 204]);
    expect([await statusOf(other), await statusOf(DEMO_SECRET)]).toEqual([401, 401]);
  });

  it('is signed over its bytes, even those that are not UTF-8', async () => {
    await using simulator = await startSimulator();
    const text = Buffer.from(makeMessage({ name: '?' }));
    const body = Buffer.from(text.map((byte) => (byte === 0x3f ? 0xff : byte)));
    expect((await sendWebhook(simulator, { body })).status).toBe(204);
  });

  it('that comes again is counted and compared with the first of its id', async () => {
    await using simulator = await startSimulator();
    const [first, second] = [makeMessage({ from_seq: 1 }), makeMessage({ from_seq: 2 })];
    for (const body of [first, first, second, first]) await sendWebhook(simulator, { body });
    await sendWebhook(simulator, { id: 'msg_other', body: first });
    const seen = (await readMessages(simulator)).map(({ repeats, same_bytes }) => [repeats, same_bytes]);
    expect(seen).toEqual([
      [0, true],
      [1, true],
      [2, false],
      [3, true],
      [0, true],
    ]);
  });
});

describe('the receiver', () => {
  it('forgets what it received when told to', async () => {
    await using simulator = await startSimulator();
    await sendWebhook(simulator);
    expect((await fetch(`${simulator.url}/_webhooks`, { method: 'DELETE' })).status).toBe(204);
    expect(await readMessages(simulator)).toEqual([]);
    await sendWebhook(simulator);
    expect(await readMessages(simulator)).toMatchObject([{ repeats: 0 }]);
  });

  it('keeps the newest 1,000 messages and goes on counting repeats', async () => {
    await using simulator = await startSimulator();
    const sendMany = async (count: number) => {
      for (let sent = 0; sent < count; sent++) await sendWebhook(simulator, { body: makeMessage({ sent }) });
    };
    await sendMany(1_001);
    const messages = await readMessages(simulator);
    expect([messages.length, messages.at(0)?.repeats, messages.at(-1)?.repeats]).toEqual([1_000, 1, 1_000]);
    await sendMany(1);
    expect((await readMessages(simulator)).at(-1)).toMatchObject({ repeats: 1_001, same_bytes: true });
  });

  it('keeps 16 MB at most', async () => {
    await using simulator = await startSimulator();
    const body = makeMessage({ padding: 'x'.repeat(5 * 2 ** 20) });
    for (const id of ['a', 'b', 'c', 'd']) await sendWebhook(simulator, { id, body });
    expect((await readMessages(simulator)).map(({ id }) => id)).toEqual(['b', 'c', 'd']);
    await fetch(`${simulator.url}/_webhooks`, { method: 'DELETE' });
    for (const id of ['e', 'f', 'g']) await sendWebhook(simulator, { id, body });
    expect(await readMessages(simulator)).toHaveLength(3);
  });

  it('answers other methods 405 and records nothing', async () => {
    await using simulator = await startSimulator();
    const response = await fetch(`${simulator.url}/_webhooks`, { method: 'PUT' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
    expect(await readMessages(simulator)).toEqual([]);
  });

  it('logs what is sent to it, and not who reads', async () => {
    await using simulator = await startSimulator();
    await sendWebhook(simulator);
    await readMessages(simulator);
    expect(simulator.requests).toMatchObject([{ method: 'POST', path: '/_webhooks', status: 204 }]);
  });

  it.each([
    ['nothing', ''],
    ['no prefix', secretOf(24).slice('whsec_'.length)],
    ['too few bytes', secretOf(23)],
    ['too many bytes', secretOf(65)],
    ['no base64', `whsec_${'?'.repeat(32)}`],
    ['two spaces', `${secretOf(24)}  ${secretOf(25)}`],
    ['three secrets', [24, 25, 26].map(secretOf).join(' ')],
  ])('does not start with a secret that has %s, and does not repeat it', async (_, webhookSecret) => {
    const error = await startSimulator({ webhookSecret }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RangeError);
    expect(String(error)).toBe(
      'RangeError: a webhook secret is whsec_ and 24 to 64 bytes in base64; two need a space between',
    );
  });
});
