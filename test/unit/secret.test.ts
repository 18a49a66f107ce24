import { describe, expect, it } from 'vitest';
import { createSecrets } from '../../src/secret.ts';

describe('a text cleared of secrets', () => {
  it('holds none of them, wherever and however often they stood', () => {
    const secrets = createSecrets();
    secrets.add('hunter22', 'token-abc');
    expect(secrets.scrub('hunter22 and token-abc, again hunter22')).toBe('[secret] and [secret], again [secret]');
  });

  it('loses a secret that contains another one as a whole', () => {
    const secrets = createSecrets();
    secrets.add('pass', 'player:pass');
    expect(secrets.scrub('sent player:pass')).toBe('sent [secret]');
  });

  it('takes characters of regular expressions as they are', () => {
    const secrets = createSecrets();
    secrets.add('a.*(b$&');
    expect(secrets.scrub('a.*(b$& but not axx(b')).toBe('[secret] but not axx(b');
  });

  it('keeps ordinary words where a secret is empty or very short', () => {
    const secrets = createSecrets();
    secrets.add('', 'a', 'the');
    expect(secrets.scrub('the cat')).toBe('the cat');
  });

  it('still lacks the password after many tokens, when each login names it anew', () => {
    const secrets = createSecrets();
    for (let login = 0; login < 200; login += 1) secrets.add('the password', `access-${login}`, `refresh-${login}`);
    expect(secrets.scrub('the password, access-199, refresh-199, access-190')).toBe(
      '[secret], [secret], [secret], [secret]',
    );
  });

  it('forgets the oldest tokens rather than growing for ever', () => {
    const secrets = createSecrets();
    for (let login = 0; login < 200; login += 1) secrets.add(`access-${login}-end`);
    expect(secrets.scrub('access-0-end')).toBe('access-0-end');
  });
});
