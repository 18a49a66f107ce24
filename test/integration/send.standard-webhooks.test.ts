import { spawnSync } from 'node:child_process';
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { beforeEach, describe, expect, it } from 'vitest';
import { missingPython } from '../support/python.ts';
import { changeByte, makeAllMessages, makeChanges, makeSecret, send, startJudge } from '../support/webhook-messages.ts';

// What implementations by others say of our messages: the library that the authors of Standard Webhooks publish, and a
// verification in Python that follows https://www.standardwebhooks.com, "Verifying signatures", and none of our code.

type Verify = (secret: string, headers: IncomingHttpHeaders, body: Buffer) => boolean;

const byLibrary: Verify = (secret, headers, body) => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
};

const SPECIFICATION = `
import base64, hashlib, hmac, json, sys, time
secret, headers, body = json.load(sys.stdin)
assert secret.startswith("whsec_")
key = base64.b64decode(secret[6:], validate=True)
content = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), base64.b64decode(body)])
expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
given = [one.split(",", 1) for one in headers["webhook-signature"].split(" ")]
assert any(version == "v1" and hmac.compare_digest(signature, expected) for version, signature in given)
assert abs(time.time() - int(headers["webhook-timestamp"])) <= 5 * 60
`;

const byPython: Verify = (secret, headers, body) => {
  const input = JSON.stringify([secret, headers, body.toString('base64')]);
  const { status, stderr } = spawnSync('python3', ['-c', SPECIFICATION], { input, encoding: 'utf8' });
  if (status === 0) return true;
  if (!stderr.trimEnd().endsWith('AssertionError')) throw new Error(stderr);
  return false;
};

const ACCEPTED = { outcome: 'accepted', what: 'status 204' };
const REFUSED = { outcome: 'failed', what: 'status 401' };
const [SECRET, NEXT, OTHER] = [makeSecret(24), makeSecret(64), makeSecret()];

describe.each([
  { who: 'the library standardwebhooks', verify: byLibrary, missing: () => undefined },
  { who: 'a verification in Python', verify: byPython, missing: missingPython },
])('$who', ({ verify, missing }) => {
  beforeEach(({ skip }) => {
    const why = missing();
    skip(why !== undefined, why);
  });

  /** The URL of a receiver that knows one secret. `change` is what happens to a body on its way. */
  const startVerifier = (secret: string, change = (body: Buffer) => body): Promise<string> =>
    startJudge((headers, body) => (verify(secret, headers, change(body)) ? 204 : 401));

  it.each(makeAllMessages().map((message) => [message.type, message] as const))('accepts %s', async (_, message) => {
    expect(await send(message, { url: await startVerifier(SECRET), secrets: [SECRET] })).toMatchObject(ACCEPTED);
  });

  it('accepts a message that is signed with two secrets, whichever of them it knows', async () => {
    const message = makeChanges(1, 100);
    for (const known of [SECRET, NEXT])
      expect(await send(message, { url: await startVerifier(known), secrets: [SECRET, NEXT] })).toMatchObject(ACCEPTED);
  });

  it.each([
    ['one secret', [SECRET]],
    ['two secrets', [SECRET, NEXT]],
  ])('refuses a message with %s that it does not know', async (_, secrets) => {
    expect(await send(makeChanges(1, 2), { url: await startVerifier(OTHER), secrets })).toMatchObject(REFUSED);
  });

  it('refuses a message of which a byte was changed', async () => {
    const url = await startVerifier(SECRET, changeByte);
    expect(await send(makeChanges(1, 2), { url, secrets: [SECRET] })).toMatchObject(REFUSED);
  });

  it.each([
    ['accepts', 'four minutes ago', -4, ACCEPTED],
    ['refuses', 'six minutes ago', -6, REFUSED],
    ['accepts', 'by a clock that is four minutes ahead', 4, ACCEPTED],
    ['refuses', 'by a clock that is six minutes ahead', 6, REFUSED],
  ])('%s a message sent %s', async (_verb, _when, aheadMinutes, expected) => {
    const url = await startVerifier(SECRET);
    const aheadMs = aheadMinutes * 60_000;
    expect(await send(makeChanges(1, 2), { url, secrets: [SECRET], aheadMs })).toMatchObject(expected);
  });
});
