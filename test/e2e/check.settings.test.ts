import { describe, expect, it } from 'vitest';
import { setUpSynced } from '../support/bench.ts';
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

  it('gives advice for a first start if none is set', async () => {
    const { path: cwd } = makeFolder();
    const { code, stdout } = await runProgram(['check'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^warn {2}skipped .* -> copy \S*\.env\.example to \.env and fill it in;/m);
    expect(stdout).toMatch(/^3 ok, 1 warning, 3 failed$/m);
  });

  it('says whose settings are needed if none is set beside a running worker', async () => {
    const bench = await setUpSynced();
    await bench.start(['run']).waitForLog(({ outcome }) => outcome === 'ok');
    const env = { LEAGUE_SYNC_DATABASE: bench.database };
    const { stdout } = await runProgram(['check'], { cwd: makeFolder().path, env });
    expect(stdout).toMatch(/^warn {2}skipped .* -> a worker uses this database: run check with its settings/m);
  });
});
