import { describe, expect, it } from 'vitest';
import { type Environment, readSettings } from '../../src/config/read-environment.ts';

const USER = 'LEAGUE_SYNC_USERNAME';
const USER_FILE = 'LEAGUE_SYNC_USERNAME_FILE';
const BEAT = 'LEAGUE_SYNC_HEARTBEAT_URL';
const BEAT_FILE = 'LEAGUE_SYNC_HEARTBEAT_URL_FILE';
const SCHEDULE = 'LEAGUE_SYNC_SCHEDULE';

describe('the settings in force', () => {
  it.each<[string, Environment, Environment, Environment]>([
    ['come from the environment', { [SCHEDULE]: 'a' }, {}, { [SCHEDULE]: 'a' }],
    ['come from .env where the environment has none', {}, { [SCHEDULE]: 'b' }, { [SCHEDULE]: 'b' }],
    ['are those of the environment where both have one', { [SCHEDULE]: 'a' }, { [SCHEDULE]: 'b' }, { [SCHEDULE]: 'a' }],
    ['count an empty value as unset', { [SCHEDULE]: '', [BEAT]: ' ' }, { [SCHEDULE]: 'b' }, { [SCHEDULE]: 'b' }],
    ['count an empty value in .env as unset', {}, { [SCHEDULE]: '' }, {}],
    ['hold nothing but our own names', { PATH: '/bin' }, { HTTPS_PROXY: 'http://proxy', league_sync_x: '1' }, {}],
    ['hide the file in .env behind a plain secret', { [USER]: 'a' }, { [USER_FILE]: 'f' }, { [USER]: 'a' }],
    ['hide the plain secret in .env behind a file', { [USER_FILE]: 'f' }, { [USER]: 'b' }, { [USER_FILE]: 'f' }],
    ['hide both forms in .env', { [USER]: 'a' }, { [USER]: 'b', [USER_FILE]: 'f' }, { [USER]: 'a' }],
    ['hide nothing behind an empty secret', { [USER]: '' }, { [USER_FILE]: 'f' }, { [USER_FILE]: 'f' }],
    ['keep both forms of one place', { [USER]: 'a', [USER_FILE]: 'f' }, {}, { [USER]: 'a', [USER_FILE]: 'f' }],
    ['hide the heartbeat in .env behind its file', { [BEAT_FILE]: 'f' }, { [BEAT]: 'b' }, { [BEAT_FILE]: 'f' }],
    ['hide the file of the heartbeat in .env', { [BEAT]: 'b' }, { [BEAT_FILE]: 'f' }, { [BEAT]: 'b' }],
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
