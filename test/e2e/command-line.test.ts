import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { PROGRAM, runProgram } from '../support/program.ts';

const COMMANDS = ['run', 'sync', 'profile', 'status', 'query', 'simulate', 'demo'];
const NEEDED_NODE = 24;

/** The Node of Debian or of a Node image, if it is too old to run the program. */
const OLD_NODE = ['/usr/bin/node', '/usr/bin/nodejs', '/usr/local/bin/node'].find(
  (path) => existsSync(path) && majorVersion(path) < NEEDED_NODE,
);

function majorVersion(node: string): number {
  return Number.parseInt(execFileSync(node, ['--version'], { encoding: 'utf8' }).slice(1), 10);
}

describe('the program', () => {
  it('fails as it does otherwise if the reader of its stderr has gone', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'verify', 'none.db'], { cwd: makeFolder().path, stdio: 'pipe' });
    child.stderr.destroy();
    expect(await once(child, 'exit')).toEqual([74, null]);
  });

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8'));
    expect(await runProgram(['--version'], { cwd: makeFolder().path })).toMatchObject({
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    });
  });

  it.each(COMMANDS)('%s --help explains it, needs no settings and touches nothing', async (command) => {
    const { path: cwd } = makeFolder();
    const { code, stdout } = await runCommand([command, '--help'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(command);
    expect(stdout).not.toContain('[nothing]');
    expect(readdirSync(cwd)).toEqual([]);
  });

  it.each([
    'nonsense',
    '--nonsense',
    'run --nonsense',
    'run nonsense',
    'query',
    'status --probe --json',
    'status --probe --fail-if-stale',
    'status --probe --database a',
    'status --database a --database b',
    'mirror --database a rebuild --database b',
  ])('called as "%s" exits 64, says why on stderr, and starts nothing', async (args) => {
    const { path: cwd } = makeFolder();
    const { code, stdout, stderr } = await runCommand(args.split(' '), { cwd });
    expect(code).toBe(64);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^league-sync: /);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it.each([
    ['stauts', "league-sync: unknown command 'stauts'\n(Did you mean status?)\n(see league-sync --help)\n"],
    ['copi', "league-sync: unknown command 'copi'\n(see league-sync --help)\n"],
  ])('called as "%s" suggests the closest command, if there is one', async (word, said) => {
    expect((await runCommand([word], { cwd: makeFolder().path })).stderr).toBe(said);
  });

  it('started by an older Node says in one sentence which one it needs', async ({ skip }) => {
    skip(OLD_NODE === undefined, `no Node older than ${NEEDED_NODE} is installed`);
    const { code, stdout, stderr } = await runProgram(['sync'], { cwd: makeFolder().path, node: OLD_NODE ?? '' });
    expect(code).not.toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toContain('Node 24');
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
