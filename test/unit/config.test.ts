import { symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Config, loadConfig, loadLogConfig } from '../../src/config/config.ts';
import { databasePath } from '../../src/config/paths.ts';
import { readSettings } from '../../src/config/read-environment.ts';
import { SETTING_NAMES } from '../../src/config/setting-definitions.ts';
import { formatProblem, SettingsError } from '../../src/errors.ts';
import { makeFolder } from '../support/folder.ts';
import { thrownBy } from '../support/unit-error.ts';

const REQUIRED = {
  LEAGUE_SYNC_BASE_URL: 'https://api.example.com',
  LEAGUE_SYNC_USERNAME: 'player',
  LEAGUE_SYNC_PASSWORD: 'correct horse',
};

type Values = Readonly<Record<string, string>>;

const load = (values: Values = {}, environment: Values = {}): Config =>
  loadConfig(readSettings({ ...REQUIRED, ...values }), environment);

/** The problems of invalid settings, including warnings. */
function faultsOf(values: Values): readonly string[] {
  return refusalOf(values).all;
}

function refusalOf(values: Values) {
  const error = thrownBy(() => loadConfig(readSettings(values), {}));
  if (!(error instanceof SettingsError)) throw error;
  return { ...error, all: [...error.problems, ...error.warnings].map(formatProblem) };
}

/** The settings that a list of faults names, each once. */
function namesOf(faults: readonly string[]): readonly string[] {
  return [...new Set(faults.map((fault) => fault.split(/[: ]/, 1)[0] ?? ''))].sort();
}

describe('the settings', () => {
  it('have the published defaults', () => {
    const { schedule, profileSchedule, credentials, ...rest } = load();
    expect([schedule.expression, schedule.timezone]).toEqual(['*/5 * * * *', 'UTC']);
    expect(profileSchedule).toMatchObject({ expression: '0 * * * *', timezone: 'UTC' });
    expect(credentials.read()).toEqual({ username: 'player', password: 'correct horse' });
    expect(rest).toEqual({
      baseUrl: 'https://api.example.com',
      allowHttp: false,
      proxy: undefined,
      database: 'data/leagues.db',
      timezone: 'UTC',
      scope: 'all',
      quietFields: [],
      loginLeewayMs: 300_000,
      attemptTimeoutMs: 30_000,
      runTimeoutMs: 120_000,
      maxBodyBytes: 64_000_000,
      removalLimit: 0.2,
      runRetentionMs: 90 * 86_400_000,
      staleAfterMs: undefined,
      listen: { host: '127.0.0.1', port: 9464 },
      allowedHosts: [],
      heartbeat: undefined,
      keepWal: false,
      copy: undefined,
      log: { level: 'info', format: undefined },
      warnings: [],
    });
  });

  it('are known under every published name', () => {
    const published = `BASE_URL ALLOW_HTTP USERNAME USERNAME_FILE PASSWORD PASSWORD_FILE DATABASE SCHEDULE
      PROFILE_SCHEDULE TIMEZONE STATUS QUIET_FIELDS LOGIN_LEEWAY ATTEMPT_TIMEOUT RUN_TIMEOUT MAX_BODY REMOVAL_LIMIT RUN_RETENTION
      STALE_AFTER LISTEN ALLOWED_HOSTS HEARTBEAT_URL HEARTBEAT_URL_FILE WEBHOOK_URL WEBHOOK_URL_FILE
      WEBHOOK_SECRET WEBHOOK_SECRET_FILE KEEP_WAL POSTGRES_URL POSTGRES_URL_FILE
      POSTGRES_SCHEMA PUBLISH LOG_LEVEL LOG_FORMAT`;
    const names = published.split(/\s+/).map((name) => `LEAGUE_SYNC_${name}`);
    expect([...SETTING_NAMES].sort()).toEqual(names.sort());
  });

  it('are taken over as given', () => {
    const config = load({
      LEAGUE_SYNC_BASE_URL: 'https://api.example.com/sports/v2/',
      LEAGUE_SYNC_DATABASE: '/srv/leagues.db',
      LEAGUE_SYNC_SCHEDULE: '*/30 * * * * *',
      LEAGUE_SYNC_PROFILE_SCHEDULE: 'off',
      LEAGUE_SYNC_TIMEZONE: 'Europe/Berlin',
      LEAGUE_SYNC_STATUS: 'active',
      LEAGUE_SYNC_QUIET_FIELDS: ' priority,extra, priority,a b,',
      LEAGUE_SYNC_LOGIN_LEEWAY: '0s',
      LEAGUE_SYNC_ATTEMPT_TIMEOUT: '250ms',
      LEAGUE_SYNC_RUN_TIMEOUT: '1h',
      LEAGUE_SYNC_MAX_BODY: '1MB',
      LEAGUE_SYNC_REMOVAL_LIMIT: '12.5%',
      LEAGUE_SYNC_RUN_RETENTION: '1d',
      LEAGUE_SYNC_STALE_AFTER: '20m',
      LEAGUE_SYNC_LISTEN: '[::1]:0',
      LEAGUE_SYNC_ALLOWED_HOSTS: 'Leagues.Example.com., 10.0.0.7,[2001:DB8:0::1],bücher.example,',
      LEAGUE_SYNC_HEARTBEAT_URL: 'https://hc.example.com/ping/1',
      LEAGUE_SYNC_PUBLISH: '/srv/public.db',
      LEAGUE_SYNC_LOG_LEVEL: 'debug',
      LEAGUE_SYNC_LOG_FORMAT: 'pretty',
    });
    expect(config).toMatchObject({
      baseUrl: 'https://api.example.com/sports/v2',
      database: '/srv/leagues.db',
      schedule: { expression: '*/30 * * * * *', timezone: 'Europe/Berlin' },
      profileSchedule: 'off',
      scope: 'active',
      quietFields: ['a b', 'extra', 'priority'],
      loginLeewayMs: 0,
      attemptTimeoutMs: 250,
      runTimeoutMs: 3_600_000,
      maxBodyBytes: 1_000_000,
      removalLimit: 0.125,
      runRetentionMs: 86_400_000,
      staleAfterMs: 1_200_000,
      listen: { host: '::1', port: 0 },
      allowedHosts: ['leagues.example.com', '10.0.0.7', '2001:db8::1', 'xn--bcher-kva.example'],
      copy: '/srv/public.db',
      log: { level: 'debug', format: 'pretty' },
    });
    expect(config.heartbeat?.().url.href).toBe('https://hc.example.com/ping/1');
  });

  it('choose a proxy for the heartbeat separately, and name an invalid proxy once', () => {
    const settings = { LEAGUE_SYNC_HEARTBEAT_URL: 'http://hc.example.com/1' };
    const proxies = { https_proxy: 'http://one:1', http_proxy: 'http://two:2', no_proxy: 'api.example.com' };
    const { proxy, heartbeat } = load(settings, proxies);
    expect([proxy, heartbeat?.().proxy?.label]).toEqual([undefined, 'http://two:2 (http_proxy)']);
    const error = thrownBy(() => load(settings, { http_proxy: 'nonsense' }));
    expect(error).toBeInstanceOf(SettingsError);
    expect(String(error).match(/http_proxy is not/g)).toHaveLength(1);
  });

  it('name all missing required settings at once', () => {
    expect(namesOf(faultsOf({}))).toEqual(['LEAGUE_SYNC_BASE_URL', 'LEAGUE_SYNC_PASSWORD', 'LEAGUE_SYNC_USERNAME']);
  });

  it('that are misspelt get a suggestion, without their value', () => {
    const { LEAGUE_SYNC_PASSWORD: secret, ...rest } = REQUIRED;
    const faults = faultsOf({ ...rest, LEAGUE_SYNC_PASWORD: secret });
    expect(faults).toHaveLength(2);
    expect(faults[0]).toMatch(/^LEAGUE_SYNC_PASSWORD is not set -> set it to /);
    expect(faults[1]).toMatch(/^LEAGUE_SYNC_PASWORD .* -> rename it \(did you mean LEAGUE_SYNC_PASSWORD\?\)/);
    expect(faults.join()).not.toContain(secret);
  });

  it('have no copy at the database, named by a link to its folder', () => {
    using folder = makeFolder();
    symlinkSync(folder.path, folder.file('link'));
    const values = { LEAGUE_SYNC_DATABASE: folder.file('a.db'), LEAGUE_SYNC_PUBLISH: folder.file('link/a.db') };
    expect(namesOf(faultsOf({ ...REQUIRED, ...values }))).toEqual(['LEAGUE_SYNC_PUBLISH']);
  });

  /** Each of these is a problem on its own; the fix is expected where it says more than the name. */
  it.each<[string, string, string?]>([
    ['LEAGUE_SYNC_BASE_URL', 'not an address', 'write one such as https://api.example.com'],
    ['LEAGUE_SYNC_BASE_URL', 'http://api.example.com', 'use https, or set LEAGUE_SYNC_ALLOW_HTTP=true'],
    ['LEAGUE_SYNC_BASE_URL', '', 'set it to the address of the service, such as https://api.example.com'],
    ['LEAGUE_SYNC_ALLOW_HTTP', 'perhaps', 'write true or false'],
    ['LEAGUE_SYNC_USERNAME', '', "set it to the player's username, or LEAGUE_SYNC_USERNAME_FILE to a file"],
    ['LEAGUE_SYNC_USERNAME', 'a:b'],
    ['LEAGUE_SYNC_PASSWORD', '', "set it to the player's password, or LEAGUE_SYNC_PASSWORD_FILE to a file"],
    ['LEAGUE_SYNC_PASSWORD_FILE', '/nowhere/password', 'keep one'],
    ['LEAGUE_SYNC_DATABASE', ':memory:', 'write the path of a file'],
    ['LEAGUE_SYNC_SCHEDULE', '99 * * * *', 'write 5 fields such as */5 * * * *'],
    ['LEAGUE_SYNC_PROFILE_SCHEDULE', 'hourly', 'write 5 fields such as */5 * * * *'],
    ['LEAGUE_SYNC_TIMEZONE', 'Mars/Olympus', 'write an IANA name'],
    ['LEAGUE_SYNC_STATUS', 'both'],
    ['LEAGUE_SYNC_QUIET_FIELDS', 'priority, status', 'name other fields of a league, separated by commas'],
    ['LEAGUE_SYNC_LOGIN_LEEWAY', '5', 'write a duration such as 250ms, 30s, 5m, 2h or 90d, from 0s to 36500d'],
    ['LEAGUE_SYNC_ATTEMPT_TIMEOUT', '0s', 'write a duration such as 250ms, 30s, 5m, 2h or 90d, from 1ms to 1d'],
    ['LEAGUE_SYNC_RUN_TIMEOUT', '30d', 'write a duration'],
    ['LEAGUE_SYNC_MAX_BODY', '4GB', 'write a size'],
    ['LEAGUE_SYNC_REMOVAL_LIMIT', '101%', 'write a percentage'],
    ['LEAGUE_SYNC_RUN_RETENTION', 'forever', 'write a duration'],
    ['LEAGUE_SYNC_STALE_AFTER', '-1m', 'write a duration'],
    ['LEAGUE_SYNC_LISTEN', '127.0.0.1:70000', 'write an address'],
    ['LEAGUE_SYNC_HEARTBEAT_URL', 'ftp://hc.example.com', 'begin it with https:// or http://'],
    ['LEAGUE_SYNC_HEARTBEAT_URL_FILE', '/nowhere/heartbeat', 'check its path and permissions'],
    ['LEAGUE_SYNC_PUBLISH', './data//leagues.db', 'name another path for the copy'],
    ['LEAGUE_SYNC_PUBLISH', 'data/leagues.db.lock', 'name another path for the copy'],
    ['LEAGUE_SYNC_PUBLISH', 'data/leagues.db.schema-1', 'name another path for the copy'],
    ['LEAGUE_SYNC_LOG_LEVEL', 'loud', 'write trace, debug'],
    ['LEAGUE_SYNC_LOG_FORMAT', 'xml', 'write json or pretty'],
    ['LEAGUE_SYNC_REMOVAL_LIMIT', '20'],
    ['LEAGUE_SYNC_LISTEN', '::1:9464'],
    ['LEAGUE_SYNC_ALLOWED_HOSTS', 'localhost,leagues.example.com:80'],
    ['LEAGUE_SYNC_ALLOWED_HOSTS', '[::1]:9464'],
    ['LEAGUE_SYNC_ALLOWED_HOSTS', 'leagues.example.com leagues.example.net'],
    ['LEAGUE_SYNC_ALLOWED_HOSTS', '*.example.com'],
    ['LEAGUE_SYNC_MAX_BODY', '0MB'],
    ['LEAGUE_SYNC_BASE_URL', 'ftp://api.example.com'],
    ['LEAGUE_SYNC_BASE_URL', 'https://api.example.com/?key=1'],
    ['LEAGUE_SYNC_BASE_URL', 'https://api.example.com/events/v1/leagues/?status=active'],
    ['LEAGUE_SYNC_BASE_URL', 'https://api.example.com/sports/players/v1'],
    ['LEAGUE_SYNC_BASE_URL', 'https://player@api.example.com'],
  ])('have no %s of "%s", and the fix is named: %s', (name, value, fix = '') => {
    const [fault, ...others] = faultsOf({ ...REQUIRED, [name]: value });
    expect(others).toEqual([]);
    expect(fault).toMatch(new RegExp(`^(both )?${name.replace(/_FILE$/, '')}(_FILE)?[: ]`));
    expect(fault).toContain(fix);
  });

  it('never repeat a secret or an address in a message', () => {
    const told = faultsOf({
      LEAGUE_SYNC_BASE_URL: 'https://player:swordfish@api.example.com/?key=swordfish#swordfish',
      LEAGUE_SYNC_HEARTBEAT_URL: 'ftp://player:swordfish@hc.example.com',
      LEAGUE_SYNC_USERNAME: 'swordfish:1',
      LEAGUE_SYNC_PASSWORD: 'swordfish',
      LEAGUE_SYNC_PASSWORD_FILE: '/run/secrets/password',
    }).join('\n');
    expect(told).not.toContain('swordfish');
    expect(told).not.toContain('api.example.com');
  });

  it.each([
    ['http://api.example.com'],
    ['http://0.0.0.0'],
    ['http://localhost.example.com'],
    ['http://127.0.0.1.example.com'],
  ])('allow %s only with ALLOW_HTTP', (url) => {
    const settings = { ...REQUIRED, LEAGUE_SYNC_BASE_URL: url };
    expect(namesOf(faultsOf(settings))).toEqual(['LEAGUE_SYNC_BASE_URL']);
    expect(namesOf(faultsOf({ ...settings, LEAGUE_SYNC_ALLOW_HTTP: 'false' }))).toEqual(['LEAGUE_SYNC_BASE_URL']);
    expect(load({ ...settings, LEAGUE_SYNC_ALLOW_HTTP: 'true' }).baseUrl).toBe(url);
  });

  it.each([
    ['LEAGUE_SYNC_schedule', 'rename it (did you mean LEAGUE_SYNC_SCHEDULE?)'],
    ['LEAGUE_SYNC_COLOUR', 'remove it, or look for its name in .env.example'],
  ])('warn of %s: %s, and never repeat its value', (name, fix) => {
    const { warnings } = load({ [name]: 'swordfish' });
    expect(warnings).toEqual([{ message: `${name} is not a setting and is ignored`, fix }]);
  });

  it.each([
    ['stale after the gap between two polls', { LEAGUE_SYNC_STALE_AFTER: '5m' }, 'set it to 7m or more'],
    ['stale within it', { LEAGUE_SYNC_STALE_AFTER: '90s', LEAGUE_SYNC_RUN_TIMEOUT: '30s' }, 'set it to 330s or more'],
    [
      'an attempt longer than a run',
      { LEAGUE_SYNC_ATTEMPT_TIMEOUT: '3m' },
      'set it to 2m or less, or raise LEAGUE_SYNC_RUN_TIMEOUT',
    ],
    ['a step longer than its field', { LEAGUE_SYNC_SCHEDULE: '*/90 * * * *' }, 'a step in the next field'],
    ['one in the other schedule', { LEAGUE_SYNC_PROFILE_SCHEDULE: '0 9-17/12 * * *' }, 'write the values themselves'],
    ['an abbreviation that means Asia/Dhaka', { LEAGUE_SYNC_TIMEZONE: 'BST' }, 'such as Europe/London'],
  ])('that contradict each other or hardly mean what was intended (%s) are warned of', (_, values, fix) => {
    const { warnings } = load(values);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toContain(Object.keys(values)[0]);
    expect(warnings[0]?.fix).toContain(fix);
  });

  it.each([
    [{ LEAGUE_SYNC_STALE_AFTER: '301s' }],
    [{ LEAGUE_SYNC_STALE_AFTER: '2m', LEAGUE_SYNC_SCHEDULE: '* * * * *' }],
    [{ LEAGUE_SYNC_ATTEMPT_TIMEOUT: '2m' }],
    [{ LEAGUE_SYNC_TIMEZONE: 'CET' }],
  ])('that agree (%j) cause no warning', (values) => {
    expect(load(values).warnings).toEqual([]);
  });

  it('give advice only at a first start', () => {
    expect(refusalOf({}).advice).toMatch(/^copy \.env\.example to \.env and fill it in/);
    const error = thrownBy(() => loadConfig(readSettings({}, '# nothing yet'), {}));
    expect(error).toMatchObject({ advice: expect.stringContaining('write these settings into .env;') });
    expect(refusalOf({ LEAGUE_SYNC_BASE_URL: 'https://api.example.com' }).advice).toBeUndefined();
  });
});

it('the address of the heartbeat in a file is its first line, re-read each time, with its proxy', () => {
  const NAME = 'LEAGUE_SYNC_HEARTBEAT_URL_FILE';
  using folder = makeFolder();
  const file = folder.write('heartbeat', 'https://hc.example.com/one\nnot the address\n');
  const { heartbeat } = load({ [NAME]: file }, { https_proxy: 'http://proxy:1', no_proxy: 'hc.example.org' });
  expect(heartbeat?.()).toMatchObject({
    url: { href: 'https://hc.example.com/one' },
    proxy: { label: expect.stringContaining('(https_proxy)') },
  });
  folder.write('heartbeat', 'https://hc.example.org/two');
  expect(heartbeat?.()).toMatchObject({ url: { href: 'https://hc.example.org/two' }, proxy: undefined });
  folder.write('heartbeat', 'swordfish');
  const error = thrownBy(() => heartbeat?.());
  expect(error).toMatchObject({ problems: [{ message: `${NAME} is not a URL` }] });
  expect(String(error)).not.toContain('swordfish');
});

describe('settings that are loaded separately', () => {
  it('are the path of the database', () => {
    expect(databasePath(readSettings({}).values)).toBe('data/leagues.db');
    const { values } = readSettings({ LEAGUE_SYNC_DATABASE: ' x.db ', LEAGUE_SYNC_USERNAME: 'u' });
    expect(databasePath(values)).toBe('x.db');
    const misspelt = readSettings({ LEAGUE_SYNC_DATABSE: 'x.db' });
    expect(databasePath(misspelt.values)).toBe('data/leagues.db');
    expect(misspelt.warnings.map(formatProblem).join()).toMatch(
      /LEAGUE_SYNC_DATABSE.*did you mean LEAGUE_SYNC_DATABASE/,
    );
  });

  it('are those of the log', () => {
    const load = (values: Values) => loadLogConfig(readSettings(values));
    expect(load({ LEAGUE_SYNC_LOG_LEVEL: '' })).toEqual({ level: 'info', format: undefined });
    const error = thrownBy(() => load({ LEAGUE_SYNC_LOG_LEVEL: 'loud', LEAGUE_SYNC_LOG_FORMAT: 'xml' }));
    expect(error).toBeInstanceOf(SettingsError);
    expect(String(error)).toMatch(/LOG_LEVEL.*LOG_FORMAT/);
  });
});
