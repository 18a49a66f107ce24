import { describe, expect, it } from 'vitest';
import { parseHttpDate } from '../../src/http/response.ts';

describe('an HTTP date', () => {
  it.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37.000Z'],
    ['Sun Nov 16 08:49:37 2026', '2026-11-16T08:49:37.000Z'],
    ['Friday, 20-Nov-76 12:00:00 GMT', '1976-11-20T12:00:00.000Z'],
    ['Friday, 20-Nov-26 12:00:00 GMT', '2026-11-20T12:00:00.000Z'],
    ['Tue, 29 Feb 2028 00:00:00 GMT', '2028-02-29T00:00:00.000Z'],
  ])('"%s" is read', (text, expected) => {
    expect(parseHttpDate(text)).toBe(Date.parse(expected));
  });

  it.each([
    undefined,
    '',
    'Invalid Date',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 30 Feb 2026 08:49:37 GMT',
    'Sun, 06 Nov 1994 25:49:37 GMT',
    'Sunday, 06-Nov-1994 08:49:37 GMT',
    'Sun Nov 6 08:49:37 1994',
    '1994-11-06T08:49:37Z',
  ])('"%s" is ignored', (text) => {
    expect(parseHttpDate(text)).toBeUndefined();
  });
});
