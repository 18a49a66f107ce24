import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PASSWORD, setUp, setUpSynced } from '../support/bench.ts';
import { runCheck, told, troubles } from '../support/check-command.ts';
import { makeFolder } from '../support/folder.ts';
import { runProgram } from '../support/program.ts';

/** Each of these is an error on its own, with its fix. */
const FAULTY: readonly (readonly [string, string, string])[] = [
  ['LEAGUE_SYNC_BASE_URL', 'api.example.com', 'write one such as https://api.example.com'],
  ['LEAGUE_SYNC_BASE_URL', 'http://api.example.com', 'use https, or set LEAGUE_SYNC_ALLOW_HTTP=true'],
  ['LEAGUE_SYNC_BASE_URL', '', 'set it to the address of the service, such as https://api.example.com'],
  ['LEAGUE_SYNC_ALLOW_HTTP', 'perhaps', 'write true or false'],
  ['LEAGUE_SYNC_USERNAME', '', "set it to the player's username, or LEAGUE_SYNC_USERNAME_FILE to a file"],
  ['LEAGUE_SYNC_PASSWORD', '', "set it to the player's password, or LEAGUE_SYNC_PASSWORD_FILE to a file"],
  ['LEAGUE_SYNC_PASSWORD_FILE', '/nowhere/password', 'keep one'],
  ['LEAGUE_SYNC_DATABASE', ':memory:', 'write the path of a file'],
  ['LEAGUE_SYNC_SCHEDULE', 'now; and then', 'write 5 fields such as */5 * * * *'],
  ['LEAGUE_SYNC_PROFILE_SCHEDULE', '99 * * * *', 'write 5 fields such as */5 * * * *'],
  ['LEAGUE_SYNC_TIMEZONE', 'Mars/Olympus', 'write an IANA name'],
  ['LEAGUE_SYNC_STATUS', 'retired', 'LEAGUE_SYNC_STATUS'],
  ['LEAGUE_SYNC_LOGIN_LEEWAY', '5 minutes', 'write a duration such as 250ms, 30s, 5m, 2h or 90d, from 0s to 36500d'],
  ['LEAGUE_SYNC_ATTEMPT_TIMEOUT', '-1s', 'write a duration such as 250ms, 30s, 5m, 2h or 90d, from 1ms to 1d'],
  ['LEAGUE_SYNC_RUN_TIMEOUT', '0s', 'write a duration'],
  ['LEAGUE_SYNC_MAX_BODY', 'big', 'write a size'],
  ['LEAGUE_SYNC_REMOVAL_LIMIT', '200%', 'write a percentage'],
  ['LEAGUE_SYNC_RUN_RETENTION', 'forever', 'write a duration'],
  ['LEAGUE_SYNC_STALE_AFTER', 'soon', 'write a duration'],
  ['LEAGUE_SYNC_LISTEN', 'localhost', 'write an address'],
  ['LEAGUE_SYNC_HEARTBEAT_URL', 'ping', 'write one such as'],
  ['LEAGUE_SYNC_HEARTBEAT_URL_FILE', '/nowhere/heartbeat', 'check its path and permissions'],
  ['LEAGUE_SYNC_PUBLISH', 'data/leagues.db', 'name another path for the copy'],
  ['LEAGUE_SYNC_LOG_LEVEL', 'loud', 'write trace, debug'],
  ['LEAGUE_SYNC_LOG_FORMAT', 'xml', 'write json or pretty'],
  ['https_proxy', 'nonsense', 'https_proxy'],
];

describe('check of settings', () => {
  it.each(FAULTY)('of which %s is "%s" fails and names the fix: %s', async (name, value, fix) => {
    const bench = await setUp();
    const more = name === 'https_proxy' ? { LEAGUE_SYNC_BASE_URL: 'https://api.example.com' } : {};
    const checked = await runCheck(bench, { [name]: value, ...more });
    expect(checked.code).toBe(1);
    expect(troubles(checked)).toEqual(['fail settings', 'warn skipped']);
    expect(told(checked, 'settings')).toContain(name.replace(/_FILE$/, ''));
    expect(told(checked, 'settings')).toContain(fix);
    expect(bench.simulator.requests).toEqual([]);
    expect(readdirSync(bench.folder)).toEqual([]);
  });

  it('reports each problem in a line and still checks the database', async () => {
    const bench = await setUpSynced();
    const faulty = { LEAGUE_SYNC_SCHEDULE: 'x', LEAGUE_SYNC_MAX_BODY: 'y', LEAGUE_SYNC_USERNAME: '' };
    const checked = await runCheck(bench, faulty);
    expect(troubles(checked)).toEqual(['fail settings', 'fail settings', 'fail settings', 'warn skipped']);
    for (const name of Object.keys(faulty)) expect(told(checked, 'settings')).toContain(name);
    expect(told(checked, 'database')).toContain('ok ');
  });

  it('fails before any request if a secret file is missing', async () => {
    const bench = await setUp();
    const checked = await runCheck(bench, { LEAGUE_SYNC_PASSWORD: '', LEAGUE_SYNC_PASSWORD_FILE: '/nowhere/password' });
    expect(told(checked, 'settings')).toMatch(/cannot be read \(ENOENT\).* -> check its path and permissions/);
    expect(bench.simulator.requests).toEqual([]);
  });

  it('warns of a misspelt name with the nearest one, and continues', async () => {
    const bench = await setUp();
    const checked = await runCheck(bench, { LEAGUE_SYNC_SCHEDUEL: '* * * * *' });
    expect(troubles(checked)).toEqual(['warn settings']);
    expect(told(checked, 'settings')).toContain('-> rename it (did you mean LEAGUE_SYNC_SCHEDULE?)');
    expect(told(checked, 'leagues')).toContain('124 received');
  });

  it('fails with a hint if a required name is misspelt', async () => {
    const bench = await setUp();
    const checked = await runCheck(bench, { LEAGUE_SYNC_PASSWORD: '', LEAGUE_SYNC_PASSWORT: PASSWORD });
    expect(troubles(checked)).toEqual(['fail settings', 'warn settings', 'warn skipped']);
  });

  it('fails and names an unreadable .env', async () => {
    const bench = await setUp();
    mkdirSync(join(bench.folder, '.env'));
    const checked = await runCheck(bench);
    expect(troubles(checked)).toEqual(['fail settings', 'warn skipped']);
    expect(told(checked, 'settings')).toMatch(/\.env is not a regular file -> remove it/);
  });

  it('gives advice for a first start if none is set', async () => {
    const { path: cwd } = makeFolder();
    const { code, stdout } = await runProgram(['check'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^warn {2}skipped .* -> copy \S*\.env\.example to \.env and fill it in;/m);
    expect(stdout).toMatch(/^3 ok, 1 warning, 3 failed$/m);
  });

  it('warns of contradictory settings, and continues', async () => {
    const bench = await setUp();
    const odd = { LEAGUE_SYNC_STALE_AFTER: '2m', LEAGUE_SYNC_ATTEMPT_TIMEOUT: '5m' };
    const checked = await runCheck(bench, { LEAGUE_SYNC_SCHEDULE: '*/5 * * * *', ...odd });
    expect(troubles(checked)).toEqual(['warn settings', 'warn settings']);
    expect(told(checked, 'settings')).toMatch(/STALE_AFTER: .*2 min.* 5 min apart .* -> set it to 7m or more/);
    expect(told(checked, 'settings')).toMatch(/ATTEMPT_TIMEOUT: .* -> set it to 2m or less/);
    expect(told(checked, 'leagues')).toContain('124 received');
  });

  it('warns of .env lines without effect by number, and continues', async () => {
    const bench = await setUp();
    writeFileSync(join(bench.folder, '.env'), `# mine\nexport\nleague_sync_password=${PASSWORD}\n`);
    const checked = await runCheck(bench);
    expect(troubles(checked)).toEqual(['warn settings', 'warn settings']);
    expect(told(checked, 'settings')).toContain('.env, line 2: is not NAME=value and is ignored -> write NAME=value');
    expect(told(checked, 'settings')).toContain('.env, line 3: league_sync_password is not a setting');
  });

  it('reads .env', async () => {
    const bench = await setUp();
    writeFileSync(join(bench.folder, '.env'), 'LEAGUE_SYNC_REMOVAL_LIMIT=many\n');
    expect(told(await runCheck(bench), 'settings')).toContain('LEAGUE_SYNC_REMOVAL_LIMIT');
  });
});
