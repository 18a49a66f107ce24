import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { setUp, setUpSynced } from '../support/bench.ts';
import { runCheck, told, troubles } from '../support/check-command.ts';
import { makeFolder } from '../support/folder.ts';
import { runProgram } from '../support/program.ts';

describe('check of settings', () => {
  it('reports each problem in a line and still checks the database', async () => {
    const bench = await setUpSynced();
    const faulty = { LEAGUE_SYNC_SCHEDULE: 'x', LEAGUE_SYNC_MAX_BODY: 'y', LEAGUE_SYNC_USERNAME: '' };
    const checked = await runCheck(bench, faulty);
    expect(troubles(checked)).toEqual(['fail settings', 'fail settings', 'fail settings', 'warn skipped']);
    for (const name of Object.keys(faulty)) expect(told(checked, 'settings')).toContain(name);
    expect(told(checked, 'database')).toContain('ok ');
  });

  it('warns of a misspelt name with the nearest one, and continues', async () => {
    const bench = await setUp();
    const checked = await runCheck(bench, { LEAGUE_SYNC_SCHEDUEL: '* * * * *' });
    expect(troubles(checked)).toEqual(['warn settings']);
    expect(told(checked, 'settings')).toContain('-> rename it (did you mean LEAGUE_SYNC_SCHEDULE?)');
    expect(told(checked, 'leagues')).toContain('124 received');
  });

  it('fails and names an unreadable .env', async () => {
    const bench = await setUp();
    mkdirSync(join(bench.folder, '.env'));
    const checked = await runCheck(bench);
    expect(troubles(checked)).toEqual(['fail settings', 'warn skipped']);
    expect(told(checked, 'settings')).toMatch(/\.env is not a regular file -> use a regular file/);
  });

  it('gives advice for a first start if none is set', async () => {
    const { path: cwd } = makeFolder();
    const { code, stdout } = await runProgram(['check'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^warn {2}skipped .* -> copy \S*\.env\.example to \.env and fill it in;/m);
    expect(stdout).toMatch(/^3 ok, 1 warning, 3 failed$/m);
  });
});
