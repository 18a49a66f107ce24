import { expect, it } from 'vitest';
import { isAllowedHost } from '../../src/observe/server.ts';

const NAMES = ['leagues.example.com', '192.0.2.7', '2001:db8::7'];

it.each([
  ['localhost', true, true],
  ['LOCALHOST.', true, true],
  ['127.0.0.1', true, true],
  ['127.8.9.10', true, true],
  ['[::1]', true, true],
  ['[::ffff:7f00:1]', true, true],
  ['leagues.example.com', false, true],
  ['Leagues.Example.Com.', false, true],
  ['192.0.2.7', false, true],
  ['[2001:db8::7]', false, true],
  ['0.0.0.0', false, false],
  ['localhost.example.com', false, false],
  ['leagues.localhost', false, false],
  ['127.0.0.1.example.com', false, false],
  ['example.com', false, false],
  ['evil-leagues.example.com', false, false],
  ['none.invalid', false, false],
  ['', false, false],
])('the host "%s" is allowed at a loopback address: %s, with names: %s', (host, atLoopback, withNames) => {
  for (const boundTo of ['127.0.0.1', '127.0.1.1', '::1', '::ffff:127.0.0.1'])
    expect(isAllowedHost(host, boundTo, [])).toBe(atLoopback);
  for (const boundTo of ['0.0.0.0', '::', '192.0.2.7']) expect(isAllowedHost(host, boundTo, [])).toBe(true);
  for (const boundTo of ['127.0.0.1', '0.0.0.0']) expect(isAllowedHost(host, boundTo, NAMES)).toBe(withNames);
});
