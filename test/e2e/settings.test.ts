import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PASSWORD, setUp, USERNAME } from '../support/bench.ts';
import { runCommand } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { needTerminal, showAtTerminal } from '../support/terminal.ts';

const REQUIRED = ['LEAGUE_SYNC_BASE_URL', 'LEAGUE_SYNC_USERNAME', 'LEAGUE_SYNC_PASSWORD'];

/** Each of these makes the settings invalid on its own. */
const FAULTY = {
  LEAGUE_SYNC_SCHEDULE: 'every now and then',
  LEAGUE_SYNC_PROFILE_SCHEDULE: '99 * * * *',
  LEAGUE_SYNC_LISTEN: 'localhost',
  LEAGUE_SYNC_LOG_FORMAT: 'xml',
} as const;

it('the first start without settings names each of them, and .env.example', async () => {
  const { path: cwd } = makeFolder();
  const { stderr } = await runCommand(['sync'], { cwd });
  const lines = stderr.trimEnd().split('\n');
  expect(lines).toHaveLength(REQUIRED.length + 2);
  for (const name of REQUIRED) expect(stderr).toContain(`  - ${name} is not set -> set it to `);
  expect(lines.at(-1)).toMatch(
    /^To start: copy \S*\.env\.example to \.env and fill it in; docs\/configuration\.md explains/,
  );
  writeFileSync(join(cwd, '.env'), 'LEAGUE_SYNC_BASE_URL=\n');
  expect((await runCommand(['sync'], { cwd })).stderr).toMatch(/^To start: write these settings into \.env;/m);
});

describe('settings at a terminal', () => {
  needTerminal();

  it('that are missing fit its width, with each fix on its own line', async () => {
    const at = { cwd: makeFolder().path, env: { NO_COLOR: '1' }, columns: 80 };
    const { code, lines } = await showAtTerminal('sync', at);
    expect(code).toBe(78);
    expect(lines.slice(0, 6)).toEqual([
      'league-sync: the settings cannot be used:',
      '  - LEAGUE_SYNC_BASE_URL is not set',
      '    → set it to the address of the service, such as https://api.example.com',
      '  - LEAGUE_SYNC_USERNAME is not set',
      "    → set it to the player's username, or LEAGUE_SYNC_USERNAME_FILE to a file",
      '      that holds it',
    ]);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it.each([
    [{ LEAGUE_SYNC_STALE_AFTER: '2m' }, 'LEAGUE_SYNC_STALE_AFTER: data is stale after 2 min'],
    [{ LEAGUE_SYNC_ATTEMPT_TIMEOUT: '5m' }, 'LEAGUE_SYNC_ATTEMPT_TIMEOUT: one request may take 5 min'],
  ])('that contradict each other (%j) are warned of by run and sync', async (env, said) => {
    const bench = await setUp();
    const { code, stderr } = await bench.run(['sync'], env);
    expect([code, stderr]).toEqual([0, expect.stringContaining(said)]);
    const worker = bench.startWorker(env);
    const line = await worker.waitForLog(({ msg }) => String(msg).startsWith(said));
    expect(line).toMatchObject({ level: 40, msg: expect.stringContaining(' -> set it to ') });
  });

  it('that are invalid are all named at once, before any request or file', async () => {
    const bench = await setUp();
    const { code, stderr } = await bench.run(['run'], FAULTY);
    expect(code).toBe(78);
    for (const name of Object.keys(FAULTY)) expect(stderr).toContain(name);
    expect(bench.simulator.requests).toHaveLength(0);
    expect(readdirSync(bench.folder)).toEqual([]);
  });
});

describe('a .env file', () => {
  it('in the working directory is read', async () => {
    const { simulator } = await setUp();
    const { path: cwd } = makeFolder();
    writeFileSync(
      join(cwd, '.env'),
      `# settings\nLEAGUE_SYNC_BASE_URL=${simulator.url}\nLEAGUE_SYNC_USERNAME=${USERNAME}\nLEAGUE_SYNC_PASSWORD="${PASSWORD}"\nLEAGUE_SYNC_DATABASE=other/name.db\n`,
    );
    expect((await runCommand(['sync'], { cwd })).code).toBe(0);
    expect(readdirSync(join(cwd, 'other'))).toEqual(['name.db']);
    expect((await runCommand(['status'], { cwd })).code).toBe(0);
  });

  it('with an unknown name causes a warning without its value', async () => {
    const bench = await setUp();
    writeFileSync(join(bench.folder, '.env'), `LEAGUE_SYNC_PASWORD=${PASSWORD}\n`);
    for (const command of ['sync', 'status']) {
      const { code, stderr } = await bench.run([command]);
      expect(code).toBe(0);
      expect(stderr).toContain('LEAGUE_SYNC_PASWORD is not a setting and is ignored -> rename it (did you mean');
      expect(stderr).not.toContain(PASSWORD);
    }
  });
});
