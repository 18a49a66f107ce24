import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findMirror } from '../../src/config/mirror.ts';
import { readPostgresUrl } from '../../src/config/postgres-url.ts';
import { SettingsError } from '../../src/errors.ts';
import { makeFolder } from '../support/folder.ts';

const URL_NAME = 'LEAGUE_SYNC_POSTGRES_URL';

type Values = Readonly<Record<string, string>>;

function faultsOf(values: Values, environment: Values = {}): string {
  try {
    findMirror(values, environment)?.();
    return '';
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.message;
  }
}

describe('the settings of the mirror', () => {
  it.each([
    'postgresql://user:secret-word@db.example.com/leagues',
    'postgres://db.example.com:5433/leagues?sslmode=verify-full&sslrootcert=/etc/ca.pem&',
    'postgresql:///leagues?host=/run/postgresql',
    'postgresql://db.example.com/a%40b?user=somebody@db',
  ])('accept %s', (url) => {
    expect(faultsOf({ [URL_NAME]: url })).toBe('');
  });

  it.each([
    ['db.example.com/leagues:secret-word', 'not the URL of a PostgreSQL database'],
    ['https://user:secret-word@db.example.com', 'not the URL of a PostgreSQL database'],
    ['postgresql://user:secret-word@db/leagues?sslmode=always', 'sslmode is not valid'],
    ['postgresql://user:12/secret-word@db/leagues', 'an @ behind its host'],
    ['postgresql://user:12#secret-word@db/leagues', 'an @ behind its host'],
    ['postgresql://user:secret-word@db/leagues#', 'a # that is not encoded'],
    ['postgresql://user:secret-word@db/%zz', 'a % that encodes nothing'],
    ['postgresql://user:secret-word%ff@db/leagues', 'a % that encodes nothing'],
    ['postgresql://user:secret-word@db/leagues?sslrootcert=system&sslmode=require', 'a weaker sslmode'],
    ['postgresql://db/leagues?password=secret-word&sslmod=require', 'has a parameter that PostgreSQL does not know'],
    ['postgresql://user:secret-word@db/x?sslmod=verify-full', 'parameter sslmod that PostgreSQL does not know'],
    ['postgresql://user:secret-word@db/x?channel_binding=require', 'the parameter channel_binding is not supported'],
    ['postgresql://user:secret-word@db/x?hostaddr=10.0.0.7', 'the parameter hostaddr is not supported'],
    ['postgresql://user:secret-word@db/x?host=', 'the parameter host has no value'],
    ['postgresql://db/x?password=secret-word&password=b', 'the parameter password twice'],
    ['postgresql://user:secret-word@db/x?sslcert=/a.crt', 'only one of sslcert and sslkey'],
    ['postgresql://user:secret-word@/x', 'names no host'],
    ['postgresql://user:secret-word@one,two/x', 'names several hosts'],
    ['postgresql://user:secret-word@db/x?port=none', 'the port is not valid'],
  ])('refuse %s without repeating it', (url, why) => {
    expect(faultsOf({ [URL_NAME]: url })).toContain(why);
    expect(faultsOf({ [URL_NAME]: url })).not.toContain('secret-word');
  });

  it.each(['Leagues of "today"', 'é'.repeat(31), 'leagues.2026'])('take %s as a schema', (schema) => {
    expect(findMirror({ [URL_NAME]: 'postgres://db/x', LEAGUE_SYNC_POSTGRES_SCHEMA: schema }, {})?.().schema).toBe(
      schema,
    );
  });

  it.each(['é'.repeat(32), '$user', 'pg_leagues', 'information_schema', 'a\0b'])('refuse %s as a schema', (schema) => {
    expect(faultsOf({ [URL_NAME]: 'postgres://db/x', LEAGUE_SYNC_POSTGRES_SCHEMA: schema })).toContain('63 bytes');
  });
});

describe('the server of the mirror', () => {
  const read = (url: string, environment: Values = {}) => readPostgresUrl(url, URL_NAME, environment);
  const URL_WITHOUT_PASSWORD = 'postgresql://reader@db.example.com/leagues';

  it('is what the URL says, as libpq reads it', () => {
    expect(
      read('postgresql://a%40b:p%3Aw+@[2001:db8::1]:5433/x%2Fy?sslmode=require&options=-c%20a%3Db+c'),
    ).toMatchObject({
      ...{ host: '2001:db8::1', port: 5433, user: 'a@b', password: 'p:w+', database: 'x/y' },
      ...{ sslmode: 'require', options: '-c a=b+c', applicationName: 'league-sync' },
    });
    const parameters = 'host=/run/postgresql&port=5434&user=b&password=p+w&dbname=z&application_name=me';
    expect(read(`postgres://a:b@c:1/d?${parameters}`)).toMatchObject({
      ...{ host: '/run/postgresql', port: 5434, user: 'b', password: 'p+w', database: 'z', applicationName: 'me' },
    });
    expect(read('postgresql://reader@db.example.com').database).toBe('reader');
  });

  it('comes from the variables of libpq where the URL does not say it', () => {
    const environment = {
      ...{ PGHOST: 'other', PGPORT: '5433', PGUSER: 'writer', PGPASSWORD: 'word', PGDATABASE: 'all' },
      ...{ PGSSLMODE: 'verify-full', PGSSLROOTCERT: '/ca.pem', PGOPTIONS: '-c a=b', PGAPPNAME: 'me' },
    };
    expect(read('postgresql://', environment)).toMatchObject({
      ...{ host: 'other', port: 5433, user: 'writer', password: 'word', database: 'all', sslmode: 'verify-full' },
      ...{ sslrootcert: '/ca.pem', options: '-c a=b', applicationName: 'me' },
    });
    expect(read('postgresql://a:b@c:1/d?sslmode=disable', environment)).toMatchObject({
      ...{ host: 'c', port: 1, user: 'a', password: 'b', database: 'd', sslmode: 'disable' },
    });
  });

  it.each([
    ['PGHOSTADDR', '10.0.0.7'],
    ['PGSERVICE', 'main'],
    ['PGCHANNELBINDING', 'require'],
    ['PGCONNECT_TIMEOUT', '5'],
    ['PGSSLMINPROTOCOLVERSION', 'TLSv1.3'],
  ])('is refused beside %s, which would lead elsewhere or ask for more', (variable, value) => {
    const url = { [URL_NAME]: URL_WITHOUT_PASSWORD };
    expect(faultsOf(url, { [variable]: value })).toContain(`${URL_NAME}: ${variable} is set, which is not supported`);
    expect(faultsOf(url, { [variable]: '', PGGSSENCMODE: 'disable', PGTZ: 'UTC' })).toBe('');
  });

  it('has its password in a password file', () => {
    using folder = makeFolder();
    const file = folder.write(
      'pgpass',
      '# db.example.com:5432:leagues:reader:commented\nother:*:*:*:wrong\n' +
        'localhost:*:a\\:b:reader:of-socket\r\ndb.example.com:5432:*:reader:se\\:cr\\\\et:rest\n',
    );
    chmodSync(file, 0o600);
    const environment = { PGPASSFILE: file };
    expect(read(URL_WITHOUT_PASSWORD, environment).password).toBe('se:cr\\et');
    expect(read(`postgresql://reader@/a%3Ab?host=/run&passfile=${file}`).password).toBe('of-socket');
    expect(read('postgresql://reader:own@db.example.com', environment).password).toBe('own');
    expect(read('postgresql://writer@db.example.com', environment).password).toBeUndefined();
    chmodSync(file, 0o640);
    expect(faultsOf({ [URL_NAME]: URL_WITHOUT_PASSWORD }, environment)).toContain(`chmod 600 ${file}`);
    expect(faultsOf({ [URL_NAME]: URL_WITHOUT_PASSWORD }, { PGPASSFILE: '/nowhere' })).toContain(
      '/nowhere cannot be read',
    );
  });
});
