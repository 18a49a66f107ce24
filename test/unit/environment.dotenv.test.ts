import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../src/config/read-environment.ts';

const NAME = 'LEAGUE_SYNC_PASSWORD';
/** A value in place of a secret. */
const SECRET = 'swordfish';
const ODD = `the value of ${NAME} does not end where its line does`;

const findOddLines = (text: string, environment = {}) => readSettings(environment, text).warnings;

function said(text: string): readonly string[] {
  return findOddLines(text).map(({ message }) => message);
}

describe('a line of .env', () => {
  it.each([
    [''],
    ['# a comment with "one quote'],
    [`${NAME}=${SECRET}`],
    [`  export ${NAME} = ${SECRET} # comment`],
    [`${NAME}="${SECRET}#1" # comment`],
    [`${NAME}='it"s ${SECRET}'`],
    [`${NAME}=it"s`],
    [`${NAME}=`],
    [`${NAME}= # to be filled in`],
    [`${NAME}=abc # see issue#12`],
    [`${NAME}=abc ## a note`],
    [`${NAME}=\n${NAME}=abc`],
    ['HTTPS_PROXY=http://proxy:3128'],
    ['NODE_OPTIONS=--nonsense\nmy.key=a#b\nOTHER="first\nsecond"'],
    [`${NAME}=a\r\nLEAGUE_SYNC_USERNAME=b\r\n`],
  ])('%j is as it should be', (text) => {
    expect(findOddLines(text, { HTTPS_PROXY: 'http://proxy:3128' })).toEqual([]);
  });

  it.each([
    [`${NAME}: ${SECRET}`, 'line 1: is not NAME=value and is ignored'],
    [`# comment\n\nexport ${NAME}`, 'line 3: is not NAME=value and is ignored'],
    [`League-Sync-Password=${SECRET}`, 'line 1: League-Sync-Password is not a setting and is ignored'],
    [`${NAME}="${SECRET}`, `line 1: ${ODD}`],
    [`${NAME}=a#${SECRET}`, `line 1: ${ODD}`],
    [`${NAME}=#${SECRET}`, `line 1: ${ODD}`],
    [`${NAME}=Pa$$ #1 ${SECRET}`, `line 1: ${ODD}`],
    [`${NAME}="a\\"${SECRET}"`, `line 1: ${ODD}`],
    [`${NAME}="a"${SECRET}`, `line 1: ${ODD}`],
    [`${NAME}='a\\'${SECRET}'`, `line 1: ${ODD}`],
    [`${NAME}="a"#${SECRET}`, `line 1: ${ODD}`],
    [`${NAME}='a' '${SECRET}'`, `line 1: ${ODD}`],
    [`${NAME}=a\nX=y\n${NAME}=${SECRET}`, `line 3: ${NAME} is set in line 1, too, which is ignored`],
    [`${NAME}=${SECRET}\n${NAME}=`, `line 2: ${NAME} is set in line 1, too, which is ignored`],
    [`https_proxy=http://${SECRET}@proxy:3128`, 'line 1: https_proxy is not read from .env'],
    [`PGPASSWORD=${SECRET}`, 'line 1: PGPASSWORD is not read from .env'],
  ])('%j is warned of, and its value not repeated', (text, message) => {
    const found = findOddLines(text);
    expect(found.map((fault) => fault.message)).toEqual([`.env, ${message}`]);
    expect(JSON.stringify(found)).not.toContain(SECRET);
  });

  it('keeps a no-break space at its end, which is warned of with the secret', () => {
    expect(readSettings({}, `${NAME}=${SECRET}\u00a0 \n`).values).toEqual({ [NAME]: `${SECRET}\u00a0` });
  });

  it('with a name in another case gets a suggestion', () => {
    expect(findOddLines('league_sync_base_url=https://api.example.com')[0]?.fix).toBe(
      'rename it (did you mean LEAGUE_SYNC_BASE_URL?)',
    );
  });

  it('with a quote that another line closes is warned of, with what that line loses', () => {
    expect(said(`${NAME}="${SECRET}\nLEAGUE_SYNC_USERNAME="player"`)).toEqual([
      `.env, line 1: ${ODD}`,
      '.env, line 2: is not NAME=value and is ignored',
    ]);
  });

  it('after an open quote has the right line number', () => {
    expect(said(`OTHER="first\nsecond"\n${SECRET}`)).toEqual(['.env, line 3: is not NAME=value and is ignored']);
  });
});

// The message about a line must match how Node parses it.
it.each([
  [`${NAME}=a#b`, { [NAME]: 'a' }],
  [`${NAME}: a`, {}],
])('Node reads %j as it is said to', (text, values) => {
  expect(parseEnv(text)).toEqual(values);
});
