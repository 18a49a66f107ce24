import { copyFileSync, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { setUpFor, setUpSynced } from '../support/bench.ts';
import { fingerprint } from '../support/folder.ts';
import { runProgram } from '../support/program.ts';

const COMMANDS = ['status', 'changes', 'query SELECT(1)', 'accept-removals', 'backup copy.db'];
const OLD = resolve(import.meta.dirname, '../fixtures/schema-1.db');
const NOWHERE = 'http://127.0.0.1:9';

describe('--database', () => {
  it('makes each command use this database, and needs no settings', async () => {
    const bench = await setUpSynced();
    const settings = { LEAGUE_SYNC_DATABASE: 'nowhere/leagues.db', LEAGUE_SYNC_SCHEDULE: 'often' };
    for (const command of COMMANDS) {
      const { code, stderr } = await bench.run([...command.split(' '), '--database', bench.database], settings);
      expect([command, code, stderr]).toEqual([command, 0, '']);
      const other = command.replace('copy.db', 'other.db').split(' ');
      expect([command, (await bench.run(other, settings)).code]).toEqual([command, 74]);
    }
    expect(existsSync(join(bench.folder, 'nowhere'))).toBe(false);
  });

  it('is in the commands that the program advises', async () => {
    const bench = await setUpSynced();
    const { stdout } = await runProgram(['status', '--database', bench.database], { cwd: bench.folder });
    expect(stdout).toContain(`until you start one with LEAGUE_SYNC_DATABASE=${bench.database} league-sync run\n`);
    const { stderr } = await runProgram(['poll', '--database', bench.database], { cwd: bench.folder });
    expect(stderr).toContain(`poll once with LEAGUE_SYNC_DATABASE=${bench.database} league-sync sync\n`);
  });

  it.each(['', ' '])('with the path "%s" is wrong usage', async (path) => {
    const bench = setUpFor(NOWHERE);
    const { code, stderr } = await bench.run(['status', '--database', path]);
    expect(code).toBe(64);
    expect(stderr).toContain('Write the path of a file.');
  });
});

it.each(COMMANDS)('an older schema is refused by %s, which names the commands that upgrade it', async (command) => {
  const bench = setUpFor(NOWHERE);
  const path = join(bench.folder, 'old.db');
  copyFileSync(OLD, path);
  const before = fingerprint(bench.folder);
  const { code, stderr } = await bench.run([...command.split(' '), '--database', path]);
  expect(code).toBe(74);
  expect(stderr).toContain('start league-sync run or league-sync sync, which upgrades it');
  expect(fingerprint(bench.folder)).toEqual(before);
});
