import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { createCredentials } from '../../src/config/credentials.ts';
import { readSettings } from '../../src/config/environment.ts';
import { CredentialsError } from '../../src/errors.ts';
import { thrownBy } from '../support/unit-error.ts';
import { createTestFolder } from '../support/unit-folder.ts';

const load = (settings: Readonly<Record<string, string>>) => loadConfig(readSettings({ ...SETTINGS, ...settings }), {});
const SETTINGS = { LEAGUE_SYNC_BASE_URL: 'https://api.example.com', LEAGUE_SYNC_USERNAME: 'player' };

const readPassword = (file: string) => createCredentials({ value: 'player' }, { file }).read().password;

describe('a secret in a file', () => {
  it.each([
    ['correct horse\n', 'correct horse'],
    ['correct horse\r\nsecond line', 'correct horse'],
    ['correct horse', 'correct horse'],
    [' spaces stay \n', ' spaces stay '],
    ['a:b\n', 'a:b'],
  ])('%j is its first line', (content, secret) => {
    using folder = createTestFolder();
    expect(readPassword(folder.write('secret', content))).toBe(secret);
  });

  it('is read anew each time, so that a rotated one is picked up', () => {
    using folder = createTestFolder();
    const file = folder.write('secret', 'old');
    const credentials = createCredentials({ value: 'player' }, { file });
    expect(credentials.read().password).toBe('old');
    folder.write('secret', 'new');
    expect(credentials.read().password).toBe('new');
  });

  it('that turns into a username with a colon is refused', () => {
    using folder = createTestFolder();
    const credentials = createCredentials({ file: folder.write('user', 'a:b') }, { value: 'p' });
    expect(() => credentials.read()).toThrow(CredentialsError);
  });

  it.each([
    ['an empty file', ''],
    ['an empty first line', '\nhunter22'],
    ['a file that is far too large', `hunter22${'x'.repeat(70_000)}`],
  ])('is not taken from %s', (_what, content) => {
    using folder = createTestFolder();
    const file = folder.write('secret', content);
    const error = thrownBy(() => readPassword(file));
    expect(error).toBeInstanceOf(CredentialsError);
    expect(String(error)).toContain(file);
    expect(String(error)).not.toContain('hunter22');
  });
});

describe('the settings of a secret', () => {
  it('may name its file', () => {
    using folder = createTestFolder();
    const config = load({ LEAGUE_SYNC_PASSWORD_FILE: folder.write('secret', 'correct horse\n') });
    expect(config.credentials.read()).toEqual({ username: 'player', password: 'correct horse' });
  });

  it('name the file that is missing, under the setting that names it', () => {
    using folder = createTestFolder();
    const file = folder.path('none');
    const message = `LEAGUE_SYNC_PASSWORD_FILE: the file ${file} cannot be read (ENOENT)`;
    expect(thrownBy(() => load({ LEAGUE_SYNC_PASSWORD_FILE: file }))).toMatchObject({
      faults: [{ message, fix: 'check its path and permissions' }],
    });
  });

  it('take one form, not both', () => {
    const message = 'LEAGUE_SYNC_PASSWORD: both it and LEAGUE_SYNC_PASSWORD_FILE are set';
    const both = { LEAGUE_SYNC_PASSWORD: 'hunter22', LEAGUE_SYNC_PASSWORD_FILE: '/none' };
    expect(thrownBy(() => load(both))).toMatchObject({ faults: [{ message, fix: 'keep one of them' }] });
  });

  it('take a colon in the password, and none in the username', () => {
    const config = load({ LEAGUE_SYNC_PASSWORD: 'a:b' });
    expect(config.credentials.read().password).toBe('a:b');
    const wrong = { LEAGUE_SYNC_USERNAME: 'a:b', LEAGUE_SYNC_PASSWORD: 'p' };
    expect(() => load(wrong)).toThrow(/LEAGUE_SYNC_USERNAME: a username with a colon/);
  });
});
