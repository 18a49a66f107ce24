import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { readSettings } from '../../src/config/read-environment.ts';
import { loadWebhook } from '../../src/config/webhook.ts';
import { formatProblem, SettingsError } from '../../src/errors.ts';
import { makeFolder } from '../support/folder.ts';
import { thrownBy } from '../support/unit-error.ts';

const URL_NAME = 'LEAGUE_SYNC_WEBHOOK_URL';
const SECRET_NAME = 'LEAGUE_SYNC_WEBHOOK_SECRET';
const OTHERS = {
  LEAGUE_SYNC_BASE_URL: 'https://api.example.com',
  LEAGUE_SYNC_USERNAME: 'player',
  LEAGUE_SYNC_PASSWORD: 'correct horse',
};

type Values = Readonly<Record<string, string>>;

const secretOf = (bytes: number, fill = 'k'): string => `whsec_${Buffer.alloc(bytes, fill).toString('base64')}`;
const GOOD = { [URL_NAME]: 'https://hooks.example.com/swordfish?key=swordfish', [SECRET_NAME]: secretOf(32) };

const load = (values: Values, environment: Values = {}) =>
  loadConfig(readSettings({ ...OTHERS, ...values }), environment);

function faultsOf(values: Values): readonly string[] {
  const error = thrownBy(() => load(values));
  if (!(error instanceof SettingsError)) throw error;
  return error.problems.map(formatProblem);
}

describe('the settings of the webhook', () => {
  it('give the URL, the keys and the proxy', () => {
    const target = load(GOOD, { https_proxy: 'http://proxy:3128' }).webhook?.();
    expect(target?.url.href).toBe(GOOD[URL_NAME]);
    expect(target?.keys).toEqual([Buffer.alloc(32, 'k')]);
    expect(target?.proxy?.label).toBe('http://proxy:3128 (https_proxy)');
    expect(load({}).webhook).toBeUndefined();
  });

  it.each([24, 25, 26, 64])('take a secret of %i bytes, with or without padding', (bytes) => {
    for (const secret of [secretOf(bytes), secretOf(bytes).replace(/=+$/, '')])
      expect(load({ ...GOOD, [SECRET_NAME]: secret }).webhook?.().keys).toEqual([Buffer.alloc(bytes, 'k')]);
  });

  it('take two secrets, and no third', () => {
    const two = `${secretOf(24, 'a')} ${secretOf(24, 'b')}`;
    expect(load({ ...GOOD, [SECRET_NAME]: two }).webhook?.().keys).toHaveLength(2);
    const [fault, ...more] = faultsOf({ ...GOOD, [SECRET_NAME]: `${two} ${secretOf(24, 'c')}` });
    expect(fault).toContain(`${SECRET_NAME} holds 3 secrets`);
    expect(more).toEqual([]);
  });

  it.each([
    '',
    'swordfish',
    'whsec_',
    secretOf(23),
    secretOf(65),
    `${secretOf(24)}swordfish!`,
    secretOf(32).replace('whsec_', ''),
    `whsec_${'A'.repeat(33)}`,
  ])('refuse the secret "%s" without repeating it', (secret) => {
    const faults = faultsOf({ ...GOOD, [SECRET_NAME]: secret });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(`${SECRET_NAME} is not `);
    expect(faults[0]).toContain('head -c 32 /dev/urandom | base64');
    if (secret !== '' && secret !== 'whsec_') expect(faults[0]).not.toContain(secret);
  });

  it('refuse a URL without a secret, and warn of a secret without a URL', () => {
    expect(faultsOf({ [URL_NAME]: GOOD[URL_NAME] })[0]).toContain(`${SECRET_NAME} is not set, but ${URL_NAME} is`);
    for (const name of [SECRET_NAME, `${SECRET_NAME}_FILE`])
      expect(load({ [name]: 'x' }).warnings.map(({ message }) => message)).toEqual([
        `${name} is set, but ${URL_NAME} is not`,
      ]);
  });

  it('refuse http to another machine, unless http is allowed', () => {
    const http = { ...GOOD, [URL_NAME]: 'http://hooks.example.com/swordfish' };
    expect(faultsOf(http)).toEqual([
      `${URL_NAME}: http would send the changes unencrypted -> use https, or set LEAGUE_SYNC_ALLOW_HTTP=true`,
    ]);
    expect(load({ ...http, LEAGUE_SYNC_ALLOW_HTTP: 'true' }).webhook?.().url.protocol).toBe('http:');
    expect(load({ ...GOOD, [URL_NAME]: 'http://127.0.0.1:8080/' }).webhook?.().url.port).toBe('8080');
  });

  it('name every fault of a URL without the URL', () => {
    for (const url of ['swordfish', 'ftp://hooks.example.com/swordfish', 'https://']) {
      const [fault, ...more] = faultsOf({ ...GOOD, [URL_NAME]: url });
      expect(fault).toContain(URL_NAME);
      expect(fault).not.toContain('swordfish');
      expect(more).toEqual([]);
    }
    expect(faultsOf({ [URL_NAME]: 'swordfish', [SECRET_NAME]: 'swordfish' })).toHaveLength(2);
  });

  it('are read from files at each call', () => {
    using folder = makeFolder();
    const files = { [`${URL_NAME}_FILE`]: folder.file('url'), [`${SECRET_NAME}_FILE`]: folder.file('secret') };
    expect(faultsOf(files)).toHaveLength(2);
    folder.write('url', 'https://one.example.com/\nmore');
    folder.write('secret', `${secretOf(24, 'a')}\n`);
    const source = load(files).webhook;
    expect(source?.().url.host).toBe('one.example.com');
    folder.write('url', 'https://two.example.com/');
    folder.write('secret', secretOf(24, 'b'));
    expect(source?.()).toMatchObject({ url: new URL('https://two.example.com/'), keys: [Buffer.alloc(24, 'b')] });
    folder.write('secret', '');
    expect(thrownBy(() => source?.())).toBeInstanceOf(SettingsError);
  });

  it('are all that webhook test needs', () => {
    expect(loadWebhook(readSettings(GOOD), {})().url.host).toBe('hooks.example.com');
    expect(String(thrownBy(() => loadWebhook(readSettings({}), {})))).toContain(`${URL_NAME} is not set`);
  });
});
