import { describe, expect, it } from 'vitest';
import {
  describeNonObject,
  isTransient,
  readMessage,
  readObject,
  readRetryAfter,
  serverClock,
} from '../../src/service/answer.ts';
import { createAnswer } from '../support/unit-answer.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const SECOND = 1_000;
const DAY = 24 * 3_600 * SECOND;

describe('Retry-After', () => {
  it.each<[string, number]>([
    ['0', NOON],
    ['120', NOON + 120 * SECOND],
    [' 120 ', NOON + 120 * SECOND],
    ['86400', NOON + DAY],
    ['86401', NOON + DAY],
    ['99999999999999999999999999', NOON + DAY],
    ['Fri, 20 Nov 2026 12:02:00 GMT', NOON + 120 * SECOND],
    ['Fri, 20 Nov 2026 12:00:00 GMT', NOON],
    ['Fri, 01 Jan 2100 00:00:00 GMT', NOON + DAY],
    ['Friday, 20-Nov-26 12:02:00 GMT', NOON + 120 * SECOND],
    ['Fri Nov 20 12:02:00 2026', NOON + 120 * SECOND],
    ['60, 120', NOON + 120 * SECOND],
    ['120,60', NOON + 120 * SECOND],
  ])('of "%s" is an instant', (text, instant) => {
    expect(readRetryAfter(createAnswer('{}', { headers: { 'retry-after': text } }), NOON)).toBe(instant);
  });

  it.each([
    [''],
    ['soon'],
    ['-1'],
    ['1.5'],
    ['1e3'],
    ['0x10'],
    ['2026-11-20T12:02:00Z'],
    ['Fri, 20 Nov 2026 12:02:00 CET'],
    ['Fri, 20 Nov 2026 11:59:59 GMT'],
    ['Fri, 99 Nov 2026 12:02:00 GMT'],
    ['Fri, 31 Nov 2026 12:02:00 GMT'],
    ['Friday, 20-Nov-86 12:02:00 GMT'],
    ['Fri Nov 20 12:02:00 CET 2026'],
    ['60, soon'],
  ])('of "%s" is as good as none', (text) => {
    expect(readRetryAfter(createAnswer('{}', { headers: { 'retry-after': text } }), NOON)).toBeUndefined();
  });

  it.each([
    ['Fri, 20 Nov 2026 12:02:00 GMT\nFri, 20 Nov 2026 12:01:00 GMT', 120],
    ['60\nFri, 20 Nov 2026 12:02:00 GMT', 120],
    ['Fri, 20 Nov 2026 12:01:00 GMT\n120', 120],
    ['soon\n120', 120],
  ])('that was sent more than once is the longest: %j', (text, seconds) => {
    const answer = createAnswer('{}', { headers: { 'retry-after': text } });
    expect(readRetryAfter(answer, NOON)).toBe(NOON + seconds * SECOND);
  });

  it('that is not there is none', () => {
    expect(readRetryAfter(createAnswer(), NOON)).toBeUndefined();
  });

  it('as a date is counted from the clock of the service, so that a wrong local clock does not matter', () => {
    const headers = { 'retry-after': 'Fri, 20 Nov 2026 15:02:00 GMT', date: 'Fri, 20 Nov 2026 15:00:00 GMT' };
    expect(readRetryAfter(createAnswer('{}', { headers }), NOON)).toBe(NOON + 120 * SECOND);
  });

  it('as a date is counted from the local clock where a cache answered', () => {
    const headers = { 'retry-after': 'Fri, 20 Nov 2026 12:02:00 GMT', date: 'Fri, 20 Nov 2026 09:00:00 GMT', age: '9' };
    expect(readRetryAfter(createAnswer('{}', { headers }), NOON)).toBe(NOON + 120 * SECOND);
  });
});

describe("the service's clock", () => {
  it.each<[string, Readonly<Record<string, string>>, number | undefined]>([
    ['is the Date of the answer', { date: 'Fri, 20 Nov 2026 12:00:00 GMT' }, NOON],
    ['is unknown without a Date', {}, undefined],
    ['is unknown where a cache answered', { date: 'Fri, 20 Nov 2026 12:00:00 GMT', age: '0' }, undefined],
    ['is not guessed from another form', { date: '2026-11-20T12:00:00Z' }, undefined],
  ])('%s', (_sentence, headers, expected) => {
    expect(serverClock(createAnswer('{}', { headers }), NOON)).toBe(expected);
  });
});

describe('a body', () => {
  it.each<[string, string | Uint8Array]>([
    ['is an object', '{"a":1}'],
    ['may begin with a byte order mark', '\uFEFF{"a":1}'],
    ['may be surrounded by white space', '\r\n {"a":1}\n'],
  ])('%s', async (_sentence, body) => {
    expect(await readObject(createAnswer(body))).toEqual({ a: 1 });
  });

  it.each<[string, string | Uint8Array, string]>([
    ['nothing', '', 'an empty body'],
    ['HTML', ' <!DOCTYPE html><title>502</title>', 'a page of HTML'],
    ['a list', '[{"a":1}]', 'a body that is no JSON object'],
    ['null', 'null', 'a body that is no JSON object'],
    ['a text', '"success"', 'a body that is no JSON object'],
    ['a number that no double can hold', '1e400', 'a body that is no JSON object'],
    ['JSON that is cut off', '{"leagues":[{"league_id":"a"', 'a body that is no JSON object'],
    ['two byte order marks', '\uFEFF\uFEFF{"a":1}', 'a body that is no JSON object'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'a body that is not UTF-8'],
    ['UTF-16', Buffer.from('\uFEFF{"a":1}', 'utf16le'), 'a body that is not UTF-8'],
  ])('of %s is no object, and is described without being repeated', async (_what, body, described) => {
    const answer = createAnswer(body, { status: 200, headers: { 'content-type': 'text/html; charset=x' } });
    expect(await readObject(answer)).toBeUndefined();
    expect(describeNonObject(answer, 'GET /x', (text) => text).message).toBe(
      `The answer to GET /x (status 200, text/html) is ${described}; does LEAGUE_SYNC_BASE_URL name the service?`,
    );
  });

  it('is described without a secret that stood for its type', () => {
    const answer = createAnswer('', { headers: { 'content-type': 'token-abc' } });
    const scrub = (text: string) => text.replaceAll('token-abc', '[secret]');
    expect(describeNonObject(answer, 'GET /x', scrub).message).toContain('(status 200, [secret])');
  });

  it('is cleared before it is read', async () => {
    const clean = (text: string) => text.replaceAll('token-abc', '[secret]');
    expect(await readObject(createAnswer('{"a":"token-abc","token-abc":1}'), clean)).toEqual({
      a: '[secret]',
      '[secret]': 1,
    });
  });

  it('is read where it lies inside a larger buffer', async () => {
    const whole = Buffer.from('xx{"a":1}yy');
    expect(await readObject(createAnswer(whole.subarray(2, 9)))).toEqual({ a: 1 });
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
    expect(readMessage(await readObject(createAnswer(body)), scrub)).toBe(expected);
  });

  it('is cleared of secrets before it is cut, so that no part of one is left', () => {
    const message = `${'x'.repeat(496)}hunter22`;
    expect(readMessage({ message }, scrub)).toBe(`${'x'.repeat(496)}[sec`);
  });
});

describe('a status', () => {
  it.each([[408], [429], [500], [502], [503], [504], [599]])('of %d passes by itself', (status) => {
    expect(isTransient(status)).toBe(true);
  });

  it.each([[200], [304], [400], [401], [403], [404], [409], [425], [600]])('of %d stays', (status) => {
    expect(isTransient(status)).toBe(false);
  });
});
