import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { countLogins, PASSWORD, type SimulatedBench, setUp } from '../support/bench.ts';
import { execute } from '../support/database.ts';
import type { Environment } from '../support/program.ts';
import { needTerminal, startAtTerminal } from '../support/terminal.ts';

/** A bench whose first login was refused; its service refuses all. */
async function setUpRefused(): Promise<SimulatedBench> {
  const bench = await setUp({ faults: ['login-refused'] });
  expect((await bench.run(['sync'])).code).toBe(77);
  return bench;
}

async function writeThenRun(file: string, run: SimulatedBench['run'], env: Environment) {
  writeFileSync(file, `${PASSWORD}\n`);
  expect((await run(['sync'], env)).code).toBe(77);
}

describe('wrong credentials', () => {
  it('are not sent again without a terminal before a minute has passed, then two', async () => {
    const bench = await setUpRefused();
    const logInAgain = async (commands: readonly string[]) => {
      const before = countLogins(bench.simulator);
      for (const command of commands) {
        const { code, stderr } = await bench.run(command.split(' '));
        expect(code).toBe(77);
        expect(stderr).toMatch(/refused the login \(status 401\); check LEAGUE_SYNC_USERNAME/);
      }
      return countLogins(bench.simulator) - before;
    };
    const pass = (seconds: number) =>
      execute(bench.database, `UPDATE logins SET at = strftime('%Y-%m-%dT%H:%M:%fZ', at, '-${seconds} seconds')`);
    expect(await logInAgain(['sync', 'sync --dry-run', 'profile'])).toBe(0);
    expect(bench.rows('SELECT kind, attempts, error_kind FROM runs ORDER BY id DESC LIMIT 2')).toEqual([
      { kind: 'profile', attempts: 0, error_kind: 'credentials' },
      { kind: 'leagues', attempts: 0, error_kind: 'credentials' },
    ]);
    for (const minutes of [1, 2]) {
      pass(60 * minutes - 30);
      expect(await logInAgain(['sync']), `in the last half minute of ${minutes}`).toBe(0);
      pass(30);
      expect(await logInAgain(['profile']), `after ${minutes} min`).toBe(1);
    }
    const [{ until } = {}] = bench.rows(
      "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', max(at), '4 minutes') AS until FROM logins",
    );
    expect((await bench.run(['sync'])).stderr).toContain(`Nothing was sent; the next try may be made at ${until}`);
  });

  it.each<[string, (bench: SimulatedBench) => Promise<unknown>]>([
    ['of another user', ({ run }) => run(['sync'], { LEAGUE_SYNC_USERNAME: 'another' })],
    ['for another base URL', ({ run, simulator }) => run(['sync'], { LEAGUE_SYNC_BASE_URL: `${simulator.url}/api` })],
    ['of check', ({ run }) => run(['check'])],
    ['after a change of .env', ({ run, folder }) => writeThenRun(join(folder, '.env'), run, {})],
    [
      'after a change of a secret file',
      ({ run, folder }) =>
        writeThenRun(join(folder, 'password'), run, {
          LEAGUE_SYNC_PASSWORD: '',
          LEAGUE_SYNC_PASSWORD_FILE: 'password',
        }),
    ],
  ])('do not keep a login %s waiting', async (_, act) => {
    const bench = await setUpRefused();
    const before = bench.simulator.requests.length;
    await act(bench);
    expect(bench.simulator.requests.length).toBeGreaterThan(before);
  });
});

describe('wrong credentials at a terminal', () => {
  needTerminal();

  it('are sent at once', async () => {
    const { simulator, folder: cwd, env } = await setUpRefused();
    expect(await startAtTerminal('sync', { cwd, env }).waitForExit()).toBe(77);
    expect(countLogins(simulator)).toBe(2);
  });
});
