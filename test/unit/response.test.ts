import { describe, expect, it } from 'vitest';
import { isTransient, readObject, serverTime } from '../../src/http/response.ts';
import { createSecrets } from '../../src/redact.ts';
import { createConnection, type ServiceResponse } from '../../src/service/connection.ts';
import { describeUnexpected, readMessage } from '../../src/service/failure.ts';
import { createAnswer } from '../support/unit-answer.ts';

/** The error for the answer, if this function removes secrets. */
function explain(answer: ServiceResponse, scrub = (text: string) => text) {
  const limits = { proxy: undefined, attemptTimeoutMs: 1_000, maxBodyBytes: 1_000 };
  const connection = createConnection({ baseUrl: 'https://api.example.com', ...limits });
  return describeUnexpected('GET', answer, { ...connection, secrets: { ...connection.secrets, scrub } });
}

const NOON = Date.parse('2026-11-20T12:00:00.000Z');

it.each<[string, Readonly<Record<string, string>>, number | undefined]>([
  ['is the Date of the answer', { date: 'Fri, 20 Nov 2026 12:00:00 GMT' }, NOON],
  ['is unknown without a Date', {}, undefined],
  ['is unknown where a cache answered', { date: 'Fri, 20 Nov 2026 12:00:00 GMT', age: '0' }, undefined],
  ['is not guessed from another form', { date: '2026-11-20T12:00:00Z' }, undefined],
])("the service's clock %s", (_sentence, headers, expected) => {
  expect(serverTime(createAnswer('{}', { headers }))).toBe(expected);
});

describe('a body', () => {
  it.each<[string, string | Uint8Array]>([
    ['is an object', '{"a":1}'],
    ['may begin with a byte order mark', '\uFEFF{"a":1}'],
  ])('%s', async (_sentence, body) => {
    expect(await readObject(createAnswer(body).body)).toEqual({ a: 1 });
  });

  it.each<[string, string | Uint8Array, string]>([
    ['nothing', '', 'an empty body'],
    ['HTML', ' <!DOCTYPE html><title>502</title>', 'an HTML page'],
    ['a list', '[{"a":1}]', 'not a JSON object'],
    ['a number that no double can hold', '1e400', 'not a JSON object'],
    ['JSON that is cut off', '{"leagues":[{"league_id":"a"', 'not a JSON object'],
    ['two byte order marks', '\uFEFF\uFEFF{"a":1}', 'not a JSON object'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'not valid UTF-8'],
    ['UTF-16', Buffer.from('\uFEFF{"a":1}', 'utf16le'), 'not valid UTF-8'],
  ])('of %s is not an object, and is described without being quoted', async (_what, body, described) => {
    const answer = createAnswer(body, { status: 200, headers: { 'content-type': 'text/html; charset=x' } });
    expect(await readObject(answer.body)).toBeUndefined();
    expect(explain(answer).message).toBe(
      `The response to GET https://api.example.com/x (status 200, text/html) is ${described}; check that LEAGUE_SYNC_BASE_URL is the address of the service, with its path.`,
    );
  });

  it('is described without a secret in its content type', () => {
    const answer = createAnswer('', { headers: { 'content-type': 'token-abc' } });
    const scrub = (text: string) => text.replaceAll('token-abc', '[secret]');
    expect(explain(answer, scrub).message).toContain('(status 200, [secret])');
  });

  it('is redacted before it is parsed', async () => {
    const clean = (text: string) => text.replaceAll('token-abc', '[secret]');
    expect(await readObject(createAnswer('{"a":"token-abc","token-abc":1}').body, clean)).toEqual({
      a: '[secret]',
      '[secret]': 1,
    });
  });

  it.each([
    String.raw`{"leagues":\u005b\u005d}`,
    String.raw`{"priority":\u0031\u0032}`,
    String.raw`{\u0022a\u0022:1}`,
    String.raw`{"a":1\/}`,
  ])('is not JSON if it has escapes outside strings, with a token or without: %s', async (body) => {
    const secrets = createSecrets();
    secrets.addTokens('token-abc');
    for (const text of [body, body.replace('{', String.raw`{"t":"\u0074oken-abc",`)])
      expect(await readObject(createAnswer(text).body, secrets.scrubTokens)).toBeUndefined();
  });

  it('may be part of a larger buffer', async () => {
    const whole = Buffer.from('xx{"a":1}yy');
    expect(await readObject(createAnswer(whole.subarray(2, 9)).body)).toEqual({ a: 1 });
  });
});

describe("the service's own message", () => {
  const scrub = (text: string) => text.replaceAll('hunter22', '[secret]');

  it.each<[string, string, string | undefined]>([
    ['is kept', '{"message":"Leagues retrieved"}', 'Leagues retrieved'],
    ['is cleared of secrets', '{"message":"no hunter22"}', 'no [secret]'],
    ['is none where it is no text', '{"message":{"a":1}}', undefined],
    ['is none where it is missing', '{}', undefined],
  ])('%s', async (_sentence, body, expected) => {
    expect(readMessage(await readObject(createAnswer(body).body), scrub)).toBe(expected);
  });

  it('is redacted before it is truncated, so that no part of a secret is left', () => {
    const message = `${'x'.repeat(496)}hunter22`;
    expect(readMessage({ message }, scrub)).toBe(`${'x'.repeat(496)}[sec`);
  });
});

describe('a status', () => {
  it.each([[408], [429], [500], [502], [503], [504], [599]])('of %d is transient', (status) => {
    expect(isTransient(status)).toBe(true);
  });

  it.each([[200], [304], [400], [401], [403], [404], [409], [425], [600]])('of %d is not transient', (status) => {
    expect(isTransient(status)).toBe(false);
  });
});
