import { describe, expect, it } from 'vitest';
import { createSecrets, redact, type Secrets } from '../../src/redact.ts';

const PAIR = Buffer.from('player:hunter22').toString('base64');

function createFilled(): Secrets {
  const secrets = createSecrets();
  secrets.addCredentials('player', 'hunter22', PAIR);
  secrets.addTokens('access-abc', 'refresh-abc');
  return secrets;
}

describe('a redacted message', () => {
  it('contains no secret', () => {
    const said = `hunter22 and access-abc, ${PAIR}, refresh-abc, again hunter22`;
    expect(createFilled().scrub(said)).toBe('[secret] and [secret], [secret], [secret], again [secret]');
  });

  it('has a secret that contains another one redacted as a whole', () => {
    expect(createFilled().scrub('sent player:hunter22')).toBe('sent [secret]');
  });

  it('contains no secret with escaped slashes, as some services echo a request', () => {
    const secrets = createSecrets();
    secrets.addCredentials('player', 'pass/word', 'cGxheWVy/cGFzcw==');
    secrets.addTokens('abcd/efgh/ijkl');
    const said = String.raw`{"token":"abcd\/efgh\/ijkl","password":"pass\/word","pair":"cGxheWVy\/cGFzcw=="}`;
    expect(secrets.scrub(said)).toBe('{"token":"[secret]","password":"[secret]","pair":"[secret]"}');
  });

  it('keeps the username', () => {
    expect(createFilled().scrub('no such user: player')).toBe('no such user: player');
  });

  it('may contain characters of regular expressions', () => {
    const secrets = createSecrets();
    secrets.addTokens('a.*(b$&');
    expect(secrets.scrub('a.*(b$& but not axx(b')).toBe('[secret] but not axx(b');
  });

  it('keeps ordinary words if a secret is empty or very short', () => {
    const secrets = createSecrets();
    secrets.addCredentials('', 'the', 'a');
    secrets.addTokens('', 'cat');
    expect(secrets.scrub('the cat')).toBe('the cat');
  });

  it.each(['p', 'user', 'password', 'Login'])('does not tell that the secret is %s, a word of messages', (secret) => {
    const message = 'password authentication failed for user "x"; the Login was refused';
    expect(redact(message, [secret])).toBe(message);
  });

  it('forgets the oldest tokens after ten minutes, all but the last eight', () => {
    let now = 0;
    const secrets = createSecrets(() => now);
    for (let login = 0; login < 9; login += 1) secrets.addTokens(`access-${login}-end`);
    expect(secrets.scrub('access-0-end access-8-end')).toBe('[secret] [secret]');
    now += 600_000;
    secrets.addTokens('access-9-end');
    expect(secrets.scrub('access-1-end access-2-end access-9-end')).toBe('access-1-end [secret] [secret]');
  });

  it('remembers at most a thousand tokens', () => {
    const secrets = createSecrets(() => 0);
    for (let login = 0; login < 1_001; login += 1) secrets.addTokens(`access-${login}-end`);
    expect(secrets.scrub('access-0-end access-1-end')).toBe('access-0-end [secret]');
  });

  it('contains neither password after a rotation', () => {
    const secrets = createFilled();
    secrets.addCredentials('player', 'swordfish', 'cGxheWVyOnN3b3JkZmlzaA==');
    expect(secrets.scrub('hunter22 swordfish cGxheWVyOnN3b3JkZmlzaA==')).toBe('[secret] [secret] [secret]');
  });
});

describe('redacted data', () => {
  it('contains none of many long tokens', () => {
    const secrets = createSecrets(() => 0);
    const tokens = Array.from({ length: 100 }, (_, login) => `${login}${'aB9+'.repeat(4_000)}`);
    secrets.addTokens(...tokens);
    expect(secrets.scrubTokens(`["${tokens[50]}","50aB9+"]`)).toBe('["[secret]","50aB9+"]');
  });

  it('contains no token and no Basic pair', () => {
    const data = `access-abc refresh-abc ${PAIR} player:hunter22`;
    expect(createFilled().scrubTokens(data)).toBe('[secret] [secret] [secret] [secret]');
  });

  it('contains no token with escaped characters', () => {
    const data = String.raw`["\u0061ccess\u002Dabc", "\\u0061 \u00e4 \n", "\u005c\u0022"]`;
    const clean = createFilled().scrubTokens(data);
    expect(JSON.parse(clean)).toEqual(['[secret]', ...JSON.parse(data).slice(1)]);
  });

  it('keeps the password, which may be an ordinary word', () => {
    expect(createFilled().scrubTokens('The hunter22 League')).toBe('The hunter22 League');
  });

  it('contains no token with all or some slashes escaped', () => {
    const secrets = createSecrets();
    secrets.addTokens('AbCd/EfGh/IjKl');
    for (const spelling of ['AbCd\\/EfGh\\/IjKl', 'AbCd\\/EfGh/IjKl', 'AbCd\\u002fEfGh\\/IjKl'])
      expect(JSON.parse(secrets.scrubTokens(`"${spelling}"`))).toBe('[secret]');
  });

  it('keeps tokens that are numbers, or words', () => {
    const secrets = createSecrets();
    secrets.addTokens('00000000', 'league_name');
    const data = '{"league_name":"a","id":1000000000000}';
    expect(secrets.scrubTokens(data)).toBe(data);
  });
});
