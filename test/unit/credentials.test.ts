import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { findCredentials, fingerprintOf } from '../../src/config/credentials.ts';
import { readSettings } from '../../src/config/read-environment.ts';
import { CredentialsError } from '../../src/errors.ts';
import { makeFolder } from '../support/folder.ts';
import { thrownBy } from '../support/unit-error.ts';

const load = (settings: Readonly<Record<string, string>>) => loadConfig(readSettings({ ...SETTINGS, ...settings }), {});
const SETTINGS = { LEAGUE_SYNC_BASE_URL: 'https://api.example.com', LEAGUE_SYNC_USERNAME: 'player' };

const credentialsFrom = (file: string) =>
  findCredentials({ LEAGUE_SYNC_USERNAME: 'player', LEAGUE_SYNC_PASSWORD_FILE: file });

describe('a secret in a file', () => {
  it.each([
    ['correct horse\n', 'correct horse'],
    ['correct horse\r\nsecond line', 'correct horse'],
    [' spaces stay \n', ' spaces stay '],
    ['a:b\n', 'a:b'],
    ['\uFEFFcorrect horse\n', 'correct horse'],
  ])('%j is its first line', (content, secret) => {
    using folder = makeFolder();
    expect(credentialsFrom(folder.write('secret', content)).read().password).toBe(secret);
  });

  it('is re-read each time, so that a rotated one is picked up', () => {
    using folder = makeFolder();
    const file = folder.write('secret', 'old');
    const credentials = credentialsFrom(file);
    expect(credentials.read().password).toBe('old');
    folder.write('secret', 'new');
    expect(credentials.read().password).toBe('new');
  });

  it('that changes to a username with a colon is rejected', () => {
    using folder = makeFolder();
    const file = folder.write('user', 'a');
    const credentials = findCredentials({ LEAGUE_SYNC_USERNAME_FILE: file, LEAGUE_SYNC_PASSWORD: 'p' });
    folder.write('user', 'a:b');
    expect(() => credentials.read()).toThrow(CredentialsError);
  });

  it.each([
    ['an empty file', '', 'the first line of', 'is empty'],
    ['an empty first line', '\nhunter22', 'the first line of', 'is empty'],
    ['UTF-16', Buffer.from('\uFEFFhunter22', 'utf16le'), '', 'is in UTF-16'],
    ['UTF-16 without a byte order mark', Buffer.from('hunter22', 'utf16le'), '', 'is in UTF-16'],
  ])('is not taken from %s', (_what, content, before, after) => {
    using folder = makeFolder();
    const file = folder.write('secret', 'hunter22');
    const credentials = credentialsFrom(file);
    writeFileSync(file, content);
    const error = thrownBy(() => credentials.read());
    expect(error).toBeInstanceOf(CredentialsError);
    expect(String(error)).toContain(`LEAGUE_SYNC_PASSWORD_FILE: ${before}${before && ' '}${file} ${after}`);
    expect(String(error)).not.toContain('hunter22');
  });
});

describe('the settings of a secret', () => {
  it('name the file that is missing, under the setting that names it', () => {
    using folder = makeFolder();
    const file = folder.file('none');
    const message = `LEAGUE_SYNC_PASSWORD_FILE: ${file} cannot be read (ENOENT)`;
    expect(thrownBy(() => load({ LEAGUE_SYNC_PASSWORD_FILE: file }))).toMatchObject({
      problems: [{ message, fix: 'check its path and permissions' }],
    });
  });

  it.each([
    ['is larger than 1MB', (file: string) => file],
    ['is not a regular file', () => '/dev/zero'],
  ])('name a file that %s', (what, choose) => {
    using folder = makeFolder();
    const file = choose(folder.write('secret', `hunter22\n${'x'.repeat(2 ** 20)}`));
    const error = thrownBy(() => load({ LEAGUE_SYNC_PASSWORD_FILE: file }));
    expect(error).toMatchObject({ problems: [{ message: `LEAGUE_SYNC_PASSWORD_FILE: ${file} ${what}` }] });
  });

  it('are not needed again to identify the account, such as while they are rotated', () => {
    using folder = makeFolder();
    const file = folder.write('secret', 'hunter22');
    const config = load({ LEAGUE_SYNC_PASSWORD_FILE: file });
    const before = fingerprintOf(config);
    rmSync(file);
    expect(fingerprintOf(config)).toBe(before);
  });
});

describe('a secret that is probably not what was meant', () => {
  const messagesFor = (password: string) =>
    load({ LEAGUE_SYNC_PASSWORD: password }).warnings.map(({ message }) => message);

  it.each([
    ['hunter22 ', 'begins or ends with a space'],
    ['\thunter22', 'begins or ends with a space'],
    ['"hunter22"', 'is in quotes, which count as part of it'],
    ['\u201Chunter22\u201D', 'is in quotes, which count as part of it'],
    ['hunter\u200B22', 'has a character that is invisible or not in UTF-8'],
    ['hunter\n22', 'has a character that is invisible or not in UTF-8'],
    ['hunter\uFFFD22', 'has a character that is invisible or not in UTF-8'],
  ])('(%j) is warned of, and used as it is', (password, what) => {
    expect(messagesFor(password)).toEqual([`LEAGUE_SYNC_PASSWORD: the value ${what}`]);
  });

  it.each(['correct horse', 'p\u00E4ss', '"', `it's`, `'a"`])('is not %s', (password) => {
    expect(messagesFor(password)).toEqual([]);
  });
});
