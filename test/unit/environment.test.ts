import { describe, expect, it } from 'vitest';
import { type Environment, readSettings } from '../../src/config/read-environment.ts';

const USER = 'LEAGUE_SYNC_USERNAME';
const USER_FILE = 'LEAGUE_SYNC_USERNAME_FILE';
const BEAT = 'LEAGUE_SYNC_HEARTBEAT_URL';
const SCHEDULE = 'LEAGUE_SYNC_SCHEDULE';

describe('the settings in force', () => {
  it.each<[string, Environment, Environment, Environment]>([
    ['are those of the environment where both have one', { [SCHEDULE]: 'a' }, { [SCHEDULE]: 'b' }, { [SCHEDULE]: 'a' }],
    ['count an empty value as unset', { [SCHEDULE]: '', [BEAT]: ' ' }, { [SCHEDULE]: 'b' }, { [SCHEDULE]: 'b' }],
    ['hold nothing but our own names', { PATH: '/bin' }, { HTTPS_PROXY: 'http://proxy', league_sync_x: '1' }, {}],
    ['hide the file in .env behind a plain secret', { [USER]: 'a' }, { [USER_FILE]: 'f' }, { [USER]: 'a' }],
    ['hide the plain secret in .env behind a file', { [USER_FILE]: 'f' }, { [USER]: 'b' }, { [USER_FILE]: 'f' }],
    ['hide nothing behind an empty secret', { [USER]: '' }, { [USER_FILE]: 'f' }, { [USER_FILE]: 'f' }],
    ['keep both forms of one place', { [USER]: 'a', [USER_FILE]: 'f' }, {}, { [USER]: 'a', [USER_FILE]: 'f' }],
    [
      'hide one secret without hiding the other',
      { [USER]: 'a' },
      { LEAGUE_SYNC_PASSWORD_FILE: 'p' },
      { [USER]: 'a', LEAGUE_SYNC_PASSWORD_FILE: 'p' },
    ],
  ])('%s', (_sentence, environment, dotenv, expected) => {
    const text = Object.entries(dotenv).map(([name, value]) => `${name}=${value}`);
    expect(readSettings(environment, text.join('\n')).values).toEqual(expected);
  });

  it.each([
    [`${SCHEDULE}=  \n${USER}=a`, { [USER]: 'a' }],
    [`${SCHEDULE}=\t\n\u00A0${USER}=a`, { [USER]: 'a' }],
    [`${SCHEDULE}=b\r${USER}="a"\r`, { [SCHEDULE]: 'b', [USER]: 'a' }],
    [`export ${USER} = 'a ' # note`, { [USER]: 'a ' }],
  ])('of %j are those of its lines', (text, expected) => {
    expect(readSettings({}, text)).toEqual({ values: expected, warnings: [], hasDotenv: true });
  });
});
