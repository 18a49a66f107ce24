import { describe, expect, it } from 'vitest';
import { findMirror } from '../../src/config/mirror.ts';
import { SettingsError } from '../../src/errors.ts';

const URL_NAME = 'LEAGUE_SYNC_POSTGRES_URL';

function faultsOf(values: Readonly<Record<string, string>>): string {
  try {
    findMirror(values)?.();
    return '';
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.message;
  }
}

describe('the settings of the mirror', () => {
  it.each([
    'postgresql://user:secret-word@db.example.com/leagues',
    'postgres://db.example.com:5433/leagues?sslmode=verify-full&sslrootcert=/etc/ca.pem',
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
    ['postgresql://user:12?secret-word@db/leagues', 'an @ behind its host'],
    ['postgresql://user:12#secret-word@db/leagues', 'an @ behind its host'],
    ['postgresql://user:secret-word@db/%zz', 'a % that encodes nothing'],
    ['postgresql://user:secret-word%ff@db/leagues', 'a % that encodes nothing'],
    ['postgresql://user:secret-word@db/leagues?sslrootcert=system&sslmode=require', 'a weaker sslmode'],
  ])('refuse %s without repeating it', (url, why) => {
    expect(faultsOf({ [URL_NAME]: url })).toContain(why);
    expect(faultsOf({ [URL_NAME]: url })).not.toContain('secret-word');
  });

  it.each(['Leagues of "today"', 'é'.repeat(31), 'leagues.2026'])('take %s as a schema', (schema) => {
    expect(findMirror({ [URL_NAME]: 'postgres://db/x', LEAGUE_SYNC_POSTGRES_SCHEMA: schema })?.().schema).toBe(schema);
  });

  it.each(['é'.repeat(32), '$user', 'pg_leagues', 'information_schema', 'a\0b'])('refuse %s as a schema', (schema) => {
    expect(faultsOf({ [URL_NAME]: 'postgres://db/x', LEAGUE_SYNC_POSTGRES_SCHEMA: schema })).toContain('63 bytes');
  });
});
