import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { setUp, setUpSynced } from '../support/bench.ts';
import { runCheck, told, troubles } from '../support/check-command.ts';
import { dumpTables, execute } from '../support/database.ts';
import { fingerprint } from '../support/folder.ts';
import { eventually } from '../support/program.ts';
import { serve } from '../support/status-server.ts';
import { needTerminal, showAtTerminal } from '../support/terminal.ts';

const NAMES = `settings, polls, database, lock, disk, owner, listen, name, connection, tls, login,
  clock, profile, leagues, interface, next poll`.split(/,\s+/);
const ESCAPE = '\u001b[';

describe('check of a healthy setup', () => {
  it('prints an ok line for each check, exits 0, sends each request once, and writes nothing', async () => {
    const bench = await setUpSynced();
    const [asked, before] = [bench.simulator.requests.length, fingerprint(bench.folder)];
    const { code, stdout, stderr } = await bench.run(['check']);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.pop()).toBe(`${NAMES.length} ok`);
    expect(lines.map((line) => /^ok {4}(\S+(?: \S+)?) {2,}\S/.exec(line)?.[1])).toEqual(NAMES);
    expect(stdout).toMatch(
      /database .*passes SQLite's quick_check, \d+ KB, schema 2, 124 live leagues, last good poll (just now|\d+ s ago) \(\d\d:\d\d:\d\d UTC\)/,
    );
    expect(stdout).toMatch(/login .*the token expires in 60 min \(.*\d\d:\d\d:\d\d UTC\)$/m);
    expect(stdout).toMatch(/clock +within a second of the service's/);
    expect(stdout).toMatch(/next poll +would be unchanged: 124 received, 124 unchanged/);
    expect(stdout).not.toContain(ESCAPE);
    expect(fingerprint(bench.folder)).toEqual(before);
    expect(bench.simulator.requests.slice(asked).map(({ path }) => path)).toEqual([
      '/players/v1/authenticate/login',
      '/players/v1/players/player/me',
      '/events/v1/leagues/',
    ]);
  });

  it('creates nothing if there is no database yet', async () => {
    const bench = await setUp();
    const checked = await runCheck(bench);
    expect(troubles(checked)).toEqual([]);
    expect(told(checked, 'database')).toContain('does not exist yet; the first poll creates it');
    expect(readdirSync(bench.folder)).toEqual([]);
  });
});

it("check names the holder of the lock, knows a worker's page, also of one elsewhere, and writes nothing", async () => {
  const bench = await setUp();
  const { worker, port } = await serve(bench);
  await worker.waitForPoll('changed');
  await eventually('the login is recorded', () => bench.rows('SELECT id FROM logins').length === 1);
  const before = dumpTables(bench.database);
  const checked = await runCheck(bench, { LEAGUE_SYNC_LISTEN: `127.0.0.1:${port}` });
  expect(troubles(checked)).toEqual([]);
  expect(told(checked, 'lock')).toMatch(new RegExp(`names process ${worker.pid} |runs: process ${worker.pid} `));
  expect(told(checked, 'listen')).toContain(`the worker answers at 127.0.0.1:${port}`);
  expect(dumpTables(bench.database)).toEqual(before);
  const shared = await setUpSynced();
  const holder = "INSERT INTO holder VALUES (1, 'another-host', '2026-11-20T12:00:00.000Z')";
  execute(`${shared.database}.lock`, `CREATE TABLE holder (pid INTEGER, host TEXT, since TEXT); ${holder}`);
  expect(troubles(await runCheck(shared, { LEAGUE_SYNC_LISTEN: `127.0.0.1:${port}` }))).toEqual([]);
  expect((await worker.stop()).code).toBe(0);
  expect(readdirSync(dirname(bench.database))).toEqual(['leagues.db']);
});

describe('check at a terminal', () => {
  needTerminal();

  it('wraps at words, prints each fix on its own line, and counts at the end', async () => {
    const bench = await setUp({ faults: ['wrong-clock', 'profile-forbidden'] });
    const env = { ...bench.env, LEAGUE_SYNC_PROFILE_SCHEDULE: '0 * * * *', NO_COLOR: '1' };
    const { code, lines } = await showAtTerminal('check', { cwd: bench.folder, env, columns: 80 });
    expect(code).toBe(1);
    expect(lines.filter((line) => line.length > 80 && line.trim().includes(' ', 62))).toEqual([]);
    const clock = lines.findIndex((line) => line.startsWith('warn  clock'));
    // The skew may be printed as 2 h or 120 min, which moves the line break.
    expect(lines[clock]).toMatch(
      /^warn {2}clock {7}this machine's clock is .* behind the service's; tokens( expire)?$/,
    );
    expect(lines[clock + 1]).toMatch(/^ {18}(expire )?by the service's clock$/);
    expect(lines[clock + 2]).toBe('                  → correct the wrong clock and synchronize it (NTP)');
    expect(lines.at(-1)).toMatch(/^\d+ ok, 1 warning, 1 failed$/);
  });
});
