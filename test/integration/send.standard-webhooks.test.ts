import type { IncomingHttpHeaders } from 'node:http';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { changeByte, makeAllMessages, makeChanges, makeSecret, send, startJudge } from '../support/webhook-messages.ts';

// What the library that the authors of Standard Webhooks publish says of our messages. The receivers of docs/webhooks.md,
// which verify signatures without it, are in system/webhook-receivers.test.ts.

function verify(secret: string, headers: IncomingHttpHeaders, body: Buffer): boolean {
  if (headers['content-type'] !== 'application/json') return false;
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

const ACCEPTED = { outcome: 'accepted', what: 'status 204' };
const REFUSED = { outcome: 'failed', what: 'status 401' };
const [SECRET, NEXT, OTHER] = [makeSecret(24), makeSecret(64), makeSecret()];

/** The URL of a receiver that knows one secret. `change` is what happens to a body on its way. */
const startVerifier = (secret: string, change = (body: Buffer) => body): Promise<string> =>
  startJudge((headers, body) => (verify(secret, headers, change(body)) ? 204 : 401));

describe('the library standardwebhooks', () => {
  it.each(makeAllMessages().map((message) => [message.message_type, message] as const))(
    'accepts %s',
    async (_, message) => {
      expect(await send(message, { url: await startVerifier(SECRET), secrets: [SECRET] })).toMatchObject(ACCEPTED);
    },
  );

  it('accepts a message that is signed with two secrets, whichever of them it knows', async () => {
    const message = makeChanges(1, 100);
    for (const known of [SECRET, NEXT])
      expect(await send(message, { url: await startVerifier(known), secrets: [SECRET, NEXT] })).toMatchObject(ACCEPTED);
  });

  it('refuses a message with a secret that it does not know, of which a byte was changed, or that is old', async () => {
    const [url, other] = [await startVerifier(SECRET), await startVerifier(OTHER)];
    const message = makeChanges(1, 2);
    expect(await send(message, { url: other, secrets: [SECRET, NEXT] })).toMatchObject(REFUSED);
    const changed = await startVerifier(SECRET, changeByte);
    expect(await send(message, { url: changed, secrets: [SECRET] })).toMatchObject(REFUSED);
    expect(await send(message, { url, secrets: [SECRET], aheadMs: -360_000 })).toMatchObject(REFUSED);
  });
});
