import { execFileSync } from 'node:child_process';
import { constants, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tryOrUndefined } from '../../src/try-or-undefined.ts';
import { setUpFor } from '../support/bench.ts';
import { runCommand } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { makeLeague } from '../support/leagues.ts';
import { eventually, type RunningProgram, runProgram, startProgram } from '../support/program.ts';

type Started = { readonly program: RunningProgram; readonly url: string };

async function simulate(...args: string[]): Promise<Started> {
  const program = startProgram(['simulate', '--port', '0', ...args], { cwd: makeFolder().path });
  const { url } = await program.waitForLog((line) => typeof line.url === 'string');
  return { program, url: String(url) };
}

describe('simulate', () => {
  it('serves the leagues of a file', async () => {
    const { path: cwd } = makeFolder();
    const file = join(cwd, 'leagues.json');
    writeFileSync(file, JSON.stringify([makeLeague('mine')]));
    const { url } = await simulate('--leagues', file);
    const bench = setUpFor(url);
    expect((await bench.run(['sync'])).code).toBe(0);
    expect(bench.rows('SELECT league_id FROM leagues')).toEqual([{ league_id: 'mine' }]);
  });

  it('is stopped while it waits for a file that never comes', async () => {
    const { path: cwd } = makeFolder();
    const fifo = join(cwd, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const program = startProgram(['simulate', '--port', '0', '--leagues', fifo], { cwd });
    // Fails until there is a reader.
    const open = () => tryOrUndefined(() => openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK)) !== undefined;
    await eventually('it reads the file', open);
    expect(await program.stop()).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([
    ['--port', '65536'],
    ['--port', 'http'],
    ['--token-life', 'long'],
    ['--churn', '5'],
    ['--fault', 'no-such-fault'],
    ['--leagues', '/nowhere.json'],
  ])('exits 64 on %s %s', async (...args) => {
    const { code, stderr } = await runCommand(['simulate', ...args], { cwd: makeFolder().path });
    expect(code).toBe(64);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('exits 64 and names the port if it is taken', async () => {
    const { url } = await simulate();
    const { code, stderr } = await runProgram(['simulate', '--port', new URL(url).port], { cwd: makeFolder().path });
    expect(code).toBe(64);
    expect(stderr).toContain(new URL(url).port);
  });
});
