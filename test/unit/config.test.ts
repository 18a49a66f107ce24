import { describe, expect, it } from 'vitest';
import { type Config, loadConfig, loadLogConfig } from '../../src/config/config.ts';
import { loadDatabasePath } from '../../src/config/database.ts';
import { SETTING_NAMES } from '../../src/config/name.ts';
import { SettingsError } from '../../src/errors.ts';
import { thrownBy } from '../support/unit-error.ts';

const REQUIRED = {
  LEAGUE_SYNC_BASE_URL: 'https://api.example.com',
  LEAGUE_SYNC_USERNAME: 'player',
  LEAGUE_SYNC_PASSWORD: 'correct horse',
};

const load = (settings: Readonly<Record<string, string>> = {}): Config => loadConfig({ ...REQUIRED, ...settings }, {});

function faultsOf(settings: Readonly<Record<string, string>>): readonly string[] {
  const error = thrownBy(() => loadConfig(settings, {}));
  if (!(error instanceof SettingsError)) throw error;
  return error.faults;
}

/** The settings that a list of faults names, each once. */
function namesOf(faults: readonly string[]): readonly string[] {
  return [...new Set(faults.map((fault) => fault.split(':', 1)[0] ?? ''))].sort();
}

describe('the settings', () => {
  it('have the published defaults', () => {
    const { schedule, profileSchedule, credentials, ...rest } = load();
    expect([schedule.expression, schedule.timezone]).toEqual(['*/5 * * * *', 'UTC']);
    expect(profileSchedule).toMatchObject({ expression: '0 * * * *', timezone: 'UTC' });
    expect(credentials.read()).toEqual({ username: 'player', password: 'correct horse' });
    expect(rest).toEqual({
      baseUrl: 'https://api.example.com',
      database: 'data/leagues.db',
      scope: 'all',
      loginLeewayMs: 300_000,
      attemptTimeoutMs: 30_000,
      runTimeoutMs: 120_000,
      maxBodyBytes: 64_000_000,
      removalLimit: 0.2,
      runRetentionMs: 90 * 86_400_000,
      staleAfterMs: undefined,
      listen: { host: '127.0.0.1', port: 9464 },
      heartbeatUrl: undefined,
      publish: undefined,
      log: { level: 'info', format: undefined },
      warnings: [],
    });
  });

  it('are known under every published name', () => {
    const published = `BASE_URL ALLOW_HTTP USERNAME USERNAME_FILE PASSWORD PASSWORD_FILE DATABASE SCHEDULE
      PROFILE_SCHEDULE TIMEZONE STATUS LOGIN_LEEWAY ATTEMPT_TIMEOUT RUN_TIMEOUT MAX_BODY REMOVAL_LIMIT RUN_RETENTION
      STALE_AFTER LISTEN HEARTBEAT_URL PUBLISH LOG_LEVEL LOG_FORMAT`;
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
      LEAGUE_SYNC_LOGIN_LEEWAY: '0s',
      LEAGUE_SYNC_ATTEMPT_TIMEOUT: '250ms',
      LEAGUE_SYNC_RUN_TIMEOUT: '1h',
      LEAGUE_SYNC_MAX_BODY: '1MB',
      LEAGUE_SYNC_REMOVAL_LIMIT: '12.5%',
      LEAGUE_SYNC_RUN_RETENTION: '1d',
      LEAGUE_SYNC_STALE_AFTER: '20m',
      LEAGUE_SYNC_LISTEN: '[::1]:0',
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
      loginLeewayMs: 0,
      attemptTimeoutMs: 250,
      runTimeoutMs: 3_600_000,
      maxBodyBytes: 1_000_000,
      removalLimit: 0.125,
      runRetentionMs: 86_400_000,
      staleAfterMs: 1_200_000,
      listen: { host: '::1', port: 0 },
      publish: '/srv/public.db',
      log: { level: 'debug', format: 'pretty' },
    });
    expect(config.heartbeatUrl?.href).toBe('https://hc.example.com/ping/1');
  });

  it('give the heartbeat a way of its own, and a faulty proxy is named once', () => {
    const settings = { ...REQUIRED, LEAGUE_SYNC_HEARTBEAT_URL: 'http://hc.example.com/1' };
    const proxies = { https_proxy: 'http://one:1', http_proxy: 'http://two:2', no_proxy: 'api.example.com' };
    const { proxy, heartbeatProxy } = loadConfig(settings, proxies);
    expect([proxy, heartbeatProxy?.label]).toEqual([undefined, 'http://two:2 (http_proxy)']);
    const error = thrownBy(() => loadConfig(settings, { http_proxy: 'nonsense' }));
    expect(error).toBeInstanceOf(SettingsError);
    expect(String(error).match(/http_proxy: no proxy/g)).toHaveLength(1);
  });

  it('that are required are all asked for at once', () => {
    expect(namesOf(faultsOf({}))).toEqual(['LEAGUE_SYNC_BASE_URL', 'LEAGUE_SYNC_PASSWORD', 'LEAGUE_SYNC_USERNAME']);
  });

  it('that are required and misspelt are named beside what they were meant to be, and never with their value', () => {
    const { LEAGUE_SYNC_PASSWORD: secret, ...rest } = REQUIRED;
    const faults = faultsOf({ ...rest, LEAGUE_SYNC_PASWORD: secret });
    expect(faults).toHaveLength(2);
    expect(faults[0]).toMatch(/^LEAGUE_SYNC_PASSWORD: it is required/);
    expect(faults[1]).toMatch(/^LEAGUE_SYNC_PASWORD .*LEAGUE_SYNC_PASSWORD\?/);
    expect(faults.join()).not.toContain(secret);
  });

  it('with many faults have every one of them reported, by name', () => {
    const wrong = {
      LEAGUE_SYNC_BASE_URL: 'not an address',
      LEAGUE_SYNC_ALLOW_HTTP: 'perhaps',
      LEAGUE_SYNC_USERNAME: 'a:b',
      LEAGUE_SYNC_SCHEDULE: '99 * * * *',
      LEAGUE_SYNC_PROFILE_SCHEDULE: 'hourly',
      LEAGUE_SYNC_TIMEZONE: 'Mars/Olympus',
      LEAGUE_SYNC_STATUS: 'both',
      LEAGUE_SYNC_LOGIN_LEEWAY: '5',
      LEAGUE_SYNC_ATTEMPT_TIMEOUT: '0s',
      LEAGUE_SYNC_RUN_TIMEOUT: '30d',
      LEAGUE_SYNC_MAX_BODY: '4GB',
      LEAGUE_SYNC_REMOVAL_LIMIT: '101%',
      LEAGUE_SYNC_RUN_RETENTION: 'forever',
      LEAGUE_SYNC_STALE_AFTER: '-1m',
      LEAGUE_SYNC_LISTEN: '127.0.0.1:70000',
      LEAGUE_SYNC_HEARTBEAT_URL: 'ftp://hc.example.com',
      LEAGUE_SYNC_LOG_LEVEL: 'loud',
      LEAGUE_SYNC_LOG_FORMAT: 'xml',
    };
    expect(namesOf(faultsOf(wrong))).toEqual([...Object.keys(wrong), 'LEAGUE_SYNC_PASSWORD'].sort());
  });

  it.each([
    ['LEAGUE_SYNC_REMOVAL_LIMIT', '20'],
    ['LEAGUE_SYNC_REMOVAL_LIMIT', '-5%'],
    ['LEAGUE_SYNC_LISTEN', '9464'],
    ['LEAGUE_SYNC_LISTEN', '::1:9464'],
    ['LEAGUE_SYNC_SCHEDULE', '* * * *'],
    ['LEAGUE_SYNC_SCHEDULE', 'off'],
    ['LEAGUE_SYNC_MAX_BODY', '0MB'],
    ['LEAGUE_SYNC_BASE_URL', 'api.example.com'],
    ['LEAGUE_SYNC_BASE_URL', 'ftp://api.example.com'],
    ['LEAGUE_SYNC_BASE_URL', 'https://api.example.com/?key=1'],
    ['LEAGUE_SYNC_BASE_URL', 'https://api.example.com/?'],
    ['LEAGUE_SYNC_BASE_URL', 'https://api.example.com/#top'],
    ['LEAGUE_SYNC_BASE_URL', 'https://player@api.example.com'],
  ])('hold no %s of "%s"', (name, value) => {
    expect(namesOf(faultsOf({ ...REQUIRED, [name]: value }))).toEqual([name]);
  });

  it('never repeat a secret or an address in a fault', () => {
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
    ['http://localhost:8080'],
    ['http://127.0.0.1'],
    ['http://127.8.8.8:1'],
    ['http://[::1]:8080'],
    ['http://api.localhost'],
  ])('allow %s, which stays on this machine', (url) => {
    expect(load({ LEAGUE_SYNC_BASE_URL: url }).baseUrl).toBe(url);
  });

  it.each([
    ['http://api.example.com'],
    ['http://10.0.0.1'],
    ['http://0.0.0.0'],
    ['http://localhost.example.com'],
    ['http://127.0.0.1.example.com'],
    ['http://[::2]'],
  ])('allow %s only with ALLOW_HTTP', (url) => {
    const settings = { ...REQUIRED, LEAGUE_SYNC_BASE_URL: url };
    expect(namesOf(faultsOf(settings))).toEqual(['LEAGUE_SYNC_BASE_URL']);
    expect(namesOf(faultsOf({ ...settings, LEAGUE_SYNC_ALLOW_HTTP: 'false' }))).toEqual(['LEAGUE_SYNC_BASE_URL']);
    expect(loadConfig({ ...settings, LEAGUE_SYNC_ALLOW_HTTP: 'true' }, {}).baseUrl).toBe(url);
  });

  it('warn of a name that is none, with the nearest one, and never with its value', () => {
    const { warnings } = load({ LEAGUE_SYNC_PASWORD_FILE: 'swordfish', LEAGUE_SYNC_SHEDULE: '* * * * *' });
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/^LEAGUE_SYNC_PASWORD_FILE .*LEAGUE_SYNC_PASSWORD_FILE\?/);
    expect(warnings[1]).toMatch(/^LEAGUE_SYNC_SHEDULE .*LEAGUE_SYNC_SCHEDULE\?/);
    expect(warnings.join()).not.toContain('swordfish');
  });
});

describe('the settings that are needed without the others', () => {
  it('are the path of the database', () => {
    const load = (settings: Readonly<Record<string, string>>) => {
      const warnings: string[] = [];
      const path = loadDatabasePath({ settings: () => settings, warn: (text) => warnings.push(text) });
      return { path, warnings };
    };
    expect(load({})).toEqual({ path: 'data/leagues.db', warnings: [] });
    expect(load({ LEAGUE_SYNC_DATABASE: 'x.db', LEAGUE_SYNC_USERNAME: 'u' })).toEqual({ path: 'x.db', warnings: [] });
    const misspelt = load({ LEAGUE_SYNC_DATABSE: 'x.db' });
    expect(misspelt.path).toBe('data/leagues.db');
    expect(misspelt.warnings.join()).toMatch(/LEAGUE_SYNC_DATABSE.*Did you mean LEAGUE_SYNC_DATABASE/);
  });

  it('are those of the log', () => {
    expect(loadLogConfig({ LEAGUE_SYNC_LOG_LEVEL: '' })).toEqual({ level: 'info', format: undefined });
    const error = thrownBy(() => loadLogConfig({ LEAGUE_SYNC_LOG_LEVEL: 'loud', LEAGUE_SYNC_LOG_FORMAT: 'xml' }));
    expect(error).toBeInstanceOf(SettingsError);
    expect(String(error)).toMatch(/LOG_LEVEL.*\n.*LOG_FORMAT/);
  });
});
