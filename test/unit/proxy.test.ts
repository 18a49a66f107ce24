import { describe, expect, it } from 'vitest';
import { chooseProxy, findNetworkWarnings } from '../../src/config/proxy.ts';
import { type Problem, SettingsError } from '../../src/errors.ts';

const PROXY = { http_proxy: 'http://proxy.example.test:3128' };
const HTTPS = new URL('https://api.example.com/base');

function choose(target: URL | string, environment: Readonly<Record<string, string>>) {
  try {
    return { proxy: chooseProxy(new URL(target), environment), faults: [] as readonly Problem[] };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { proxy: undefined, faults: error.problems };
  }
}

describe('the proxy to a service', () => {
  it.each([
    [{ https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:1', http_proxy: 'http://c:1' }, 'http://a:1 (https_proxy)'],
    [{ HTTPS_PROXY: 'http://b:1', http_proxy: 'http://c:1' }, 'http://b:1 (HTTPS_PROXY)'],
    [{ https_proxy: '', HTTPS_PROXY: '', http_proxy: 'http://c:1' }, 'http://c:1 (http_proxy)'],
    [{ https_proxy: 'https://user:secret@a:1' }, 'https://a:1 (https_proxy)'],
    [{ https_proxy: 'a.example:3128' }, 'http://a.example:3128 (https_proxy)'],
    [{}, undefined],
  ])('over https is named by %j', (environment, label) => {
    expect(choose(HTTPS, environment)).toEqual({ proxy: label && expect.objectContaining({ label }), faults: [] });
  });

  it('for http is not used for https', () => {
    expect(choose('http://api.example.com', { https_proxy: 'http://a:1' }).proxy).toBeUndefined();
  });

  it.each(['http://localhost', 'http://localhost.:8080', 'http://127.1.2.3', 'http://[::1]:1', 'https://a.localhost'])(
    'at %s is none, even if the variables name one',
    (target) => {
      expect(choose(target, { http_proxy: 'nonsense', https_proxy: 'nonsense' })).toEqual({
        proxy: undefined,
        faults: [],
      });
    },
  );

  it.each<[string, string, boolean]>([
    ['*', 'https://api.example.com', true],
    ['example.com', 'https://api.example.com', true],
    ['*.example.com', 'https://api.example.com', true],
    ['other.test,example.com', 'https://api.example.com', true],
    ['example.com:443', 'https://api.example.com', true],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', true],
    ['2001:db8::1', 'https://[2001:db8::1]', true],
    ['10.0.0.0/8', 'https://10.200.3.4', true],
    ['10.1.2.3/32', 'https://10.1.2.3', true],
    ['10.1.2.3/8,[2001:DB8::]/32', 'https://[2001:db8:0:1::7]', true],
    ['2001:db8::/32', 'https://[2001:db9::1]', false],
    ['10.0.0.0/8', 'https://[::ffff:10.1.2.3]', true],
    ['10.0.0.0/8', 'https://11.0.0.1', false],
    ['10.0.0.0/8', 'https://10.0.0.1.example.com', false],
    ['bücher.example', 'https://xn--bcher-kva.example', true],
    ['0.2.7', 'https://192.0.2.7', false],
    ['example.com:80', 'https://api.example.com', false],
    ['api.example.com.evil.test', 'https://api.example.com', false],
    [',', 'https://api.example.com', false],
  ])('is kept out by no_proxy=%s at %s: %s', (exemptions, target, out) => {
    for (const name of ['no_proxy', 'NO_PROXY']) {
      expect(choose(target, { ...PROXY, [name]: exemptions }).proxy === undefined).toBe(out);
    }
  });

  it('is warned of if an entry of no_proxy can match nothing', () => {
    const good = ['*', '.a.test', '*.a.test:8443', '10.0.0.0/8', '::/0', '[2001:db8::]/32', '2001:db8::1', '[::2]:80'];
    const idle = '10.* 192.168. 10.1 10.0.0.0/33 10.0.0/8 a.test/8 ::/129 https://a.test *. :80'.split(' ');
    const others = ['a.test:99999', 'a.test;b.test', '[::1', 'fe80::1%eth0', '<local>', 'a@b.test', 'a.*.test'];
    const no_proxy = [...good, ...idle, ...others, ''].join(', ');
    expect(findNetworkWarnings({ ...PROXY, no_proxy }).map(({ message }) => message)).toEqual(
      [...idle, ...others].map((entry) => `no_proxy: "${entry}" is no name, address or network, and is ignored`),
    );
    expect(findNetworkWarnings({ no_proxy })).toEqual([]);
    expect(findNetworkWarnings({ ALL_PROXY: 'socks5://a:1' })[0]?.message).toBe('ALL_PROXY is not used');
  });

  it.each([
    'nonsense',
    'ftp://a:1',
    'http://a:1/path',
    'http://a:99999',
    'http://%zz@a:1',
    'http://a:1?x',
    'http://a:1#x',
  ])('cannot be %s, and the fault names the variable and not its value', (value) => {
    const { proxy, faults } = choose(HTTPS, { https_proxy: value });
    expect(proxy).toBeUndefined();
    expect(faults).toEqual([
      { message: 'https_proxy is not a valid proxy address', fix: expect.stringContaining('write it as http:') },
    ]);
    expect(JSON.stringify(faults)).not.toContain(value);
  });

  it('that is exempted may be invalid', () => {
    expect(choose(HTTPS, { https_proxy: 'nonsense', no_proxy: 'example.com' }).faults).toEqual([]);
  });
});
