import { describe, expect, it } from 'vitest';
import { describeNetworkError } from '../../src/http/network-error.ts';

const REQUEST = 'GET https://api.example.com/events/v1/leagues/';

function faultOf(code: string | undefined): Error {
  return Object.assign(new Error('words of the library'), { code });
}

describe('a connection that failed', () => {
  it.each([
    ['ENOTFOUND', /cannot be resolved/, true],
    ['ECONNREFUSED', /refused/, true],
    ['UND_ERR_SOCKET', /broke before/, true],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', /does not match its Content-Length/, true],
    ['HPE_INVALID_CONSTANT', /does not speak HTTP/, true],
    ['CERT_HAS_EXPIRED', /has expired/, false],
    ['CERT_NOT_YET_VALID', /clock/, false],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /another host name/, false],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /NODE_EXTRA_CA_CERTS/, false],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', /NODE_EXTRA_CA_CERTS/, false],
    ['ERR_SSL_WRONG_VERSION_NUMBER', /does not speak TLS on this port/, false],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', /no TLS version/, false],
    ['ESOMETHING', /the connection failed/, true],
  ])('with %s is explained, without the message of the library', (code, words, passes) => {
    const { message, retryable } = describeNetworkError(faultOf(code), REQUEST);
    expect(message).toMatch(words);
    expect(message).toContain(REQUEST);
    expect(message).toContain(`(${code})`);
    expect(message).not.toContain('library');
    expect(retryable).toBe(passes);
  });

  it('is recognised by its name if it has no code', () => {
    const error = Object.assign(faultOf(undefined), { name: 'HTTPParserError' });
    expect(describeNetworkError(error, REQUEST).message).toMatch(/does not speak HTTP.*\(HTTPParserError\)/);
  });

  it('has the same message inside an AggregateError or as a cause', () => {
    const inner = faultOf('ECONNREFUSED');
    for (const error of [new AggregateError([inner]), new Error('fetch failed', { cause: inner })]) {
      expect(describeNetworkError(error, REQUEST).message).toMatch(/refused.*\(ECONNREFUSED\)/);
    }
  });
});
