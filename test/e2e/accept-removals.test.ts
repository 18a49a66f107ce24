import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type SimulatedBench, setUpSynced } from '../support/bench.ts';
import { dumpTables, execute, openConnection } from '../support/database.ts';
import { fingerprint } from '../support/folder.ts';
import { acceptedIn, leagueIds, poll, removedIn, setUpHeld } from '../support/held-removals.ts';
import { makeLeagues } from '../support/leagues.ts';
import { PROGRAM, type RunningProgram } from '../support/program.ts';

const HELD = 3;
const SHOW_ONLY =
  '7 removals held; league-sync accept-removals --yes accepts them: the next poll applies them, unless their leagues are listed again';
const ACCEPTED = '7 removals accepted: the next poll applies them, unless their leagues are listed again';
const MOMENT_MS = 300;
const NOBODY_ID = 65_534;

function filesOf({ database }: SimulatedBench): readonly string[] {
  return readdirSync(dirname(database));
}

async function waitForTable(command: RunningProgram): Promise<void> {
  await command.waitForLog(({ msg }) => /^League l9 .*l9$/.test(String(msg)));
}

async function expectEnd(command: RunningProgram, code: number, lastLine: string): Promise<void> {
  const exit = await command.waitForExit();
  expect(exit).toMatchObject({ code, stderr: '' });
  expect(exit.stdout.trimEnd().split('\n').at(-1)).toBe(lastLine);
}

describe('accept-removals', { timeout: 60_000 }, () => {
  it('says so if no removal is held', async () => {
    const bench = await setUpSynced({ leagues: makeLeagues(3) });
    const before = fingerprint(bench.folder);
    for (const args of [[], ['--yes']]) {
      expect(await bench.run(['accept-removals', ...args])).toMatchObject({
        code: 0,
        stdout: 'no removals are held\n',
        stderr: '',
      });
    }
    expect(fingerprint(bench.folder)).toEqual(before);
  });

  it('in a pipe shows the held removals, writes nothing and exits 3', async () => {
    const bench = await setUpHeld();
    const before = fingerprint(bench.folder);
    const { code, stdout, stderr } = await bench.runProcess(['accept-removals'], {}, { into: 'cat' });
    expect({ code, stderr }).toEqual({ code: HELD, stderr: '' });
    const [row] = bench.rows('SELECT held_since FROM held_removals');
    expect(stdout.trimEnd().split('\n')).toEqual([
      '7 removals held',
      '',
      `league      sport   ${'held since'.padEnd(24)}  league_id`,
      ...leagueIds(4, 10)
        .toSorted()
        .map((id) => `${`League ${id}`.padEnd(10)}  soccer  ${row?.held_since}  ${id}`),
      '',
      SHOW_ONLY,
    ]);
    expect(fingerprint(bench.folder)).toEqual(before);
  });

  it('accepts with --yes, and the next poll applies it', async () => {
    const bench = await setUpHeld();
    const { league_changes, leagues: stored } = dumpTables(bench.database);
    const before = new Date().toISOString();
    const exit = await bench.run(['accept-removals', '--yes']);
    const after = new Date().toISOString();
    expect(exit).toMatchObject({ code: 0, stderr: '' });
    expect(exit.stdout).toContain(`\n${ACCEPTED}\n`);
    expect(acceptedIn(bench)).toEqual(leagueIds(4, 10));
    expect(
      bench.rows(`SELECT DISTINCT accepted_at BETWEEN '${before}' AND '${after}' AS fits FROM held_removals`),
    ).toEqual([{ fits: 1 }]);
    // No row of `attention` names them any more.
    expect((await bench.run(['status'])).stdout).toMatch(/held removals +7 \(7 accepted\): \S/);
    expect(dumpTables(bench.database)).toMatchObject({ league_changes, leagues: stored });

    await poll(bench, makeLeagues(3), 0);
    expect(removedIn(bench)).toEqual(leagueIds(4, 10));
    expect(bench.rows('SELECT * FROM held_removals')).toEqual([]);
  });

  it('reports removals that are accepted already, and does not change them', async () => {
    const bench = await setUpHeld();
    await bench.run(['accept-removals', '--yes']);
    const before = fingerprint(bench.folder);
    for (const args of [[], ['--yes']]) {
      expect(await bench.run(['accept-removals', ...args])).toMatchObject({
        code: 0,
        stdout: `${ACCEPTED.replace('accepted', 'accepted earlier')}\n`,
      });
    }
    expect(fingerprint(bench.folder)).toEqual(before);
  });

  it('says how many of the removals shown are no longer held when it accepts them', async () => {
    const bench = await setUpHeld();
    const writer = openConnection(bench.database);
    writer.exec('BEGIN IMMEDIATE');
    const command = bench.start(['accept-removals', '--yes']);
    await waitForTable(command);
    writer.exec("DELETE FROM held_removals WHERE league_id = 'l4'; COMMIT");
    await expectEnd(command, 0, '1 removal no longer held as shown; run the command again');
    expect(acceptedIn(bench)).toEqual(leagueIds(5, 10));
  });

  it('waits while another program reads a database that is one file, and not longer', async () => {
    const bench = await setUpHeld();
    const reader = openConnection(bench.database, { readonly: true });
    reader.exec('BEGIN');
    expect(reader.prepare('SELECT count(accepted_at) AS n FROM held_removals').get()).toEqual({ n: 0 });
    const command = bench.start(['accept-removals', '--yes']);
    await waitForTable(command);
    await pass(MOMENT_MS);
    expect(reader.prepare('SELECT count(accepted_at) AS n FROM held_removals').get()).toEqual({ n: 0 });
    reader.exec('COMMIT');
    await expectEnd(command, 0, ACCEPTED);
    expect(reader.prepare('SELECT count(accepted_at) AS n FROM held_removals').get()).toEqual({ n: 7 });
    expect(filesOf(bench)).toEqual(['leagues.db']);
  });

  it.for([
    ['file', 0o444, 0o777],
    ['folder', 0o666, 0o555],
  ] as const)(
    'exits 74 for a user who may not write the %s, with its path and the fix',
    async ([, file, folder], { skip }) => {
      skip(!canRunAsAnother(), 'no other user can be had here');
      const bench = await setUpHeld();
      chmodSync(bench.folder, 0o755);
      chmodSync(dirname(bench.database), folder);
      chmodSync(bench.database, file);
      const { status, stderr, stdout } = runAsAnother(['accept-removals', '--yes'], bench.database);
      const shown = runAsAnother(['accept-removals'], bench.database);
      const changes = runAsAnother(['changes'], bench.database);
      chmodSync(dirname(bench.database), 0o755);
      expect({ status, stderr }).toMatchObject({ status: 74, stderr: expect.stringContaining(bench.database) });
      expect(stderr).toMatch(/; (give|check) .*permission/);
      expect(stderr).not.toMatch(/^\s+at /m);
      expect(stdout).not.toContain('accepted');
      expect([shown.status, changes.status]).toEqual([HELD, 0]);
      expect(acceptedIn(bench)).toEqual([]);
      expect(filesOf(bench)).toEqual(['leagues.db']);
    },
  );
});

it('status counts the removals that are held, and those of them that are accepted', { timeout: 60_000 }, async () => {
  const bench = await setUpHeld();
  expect((await bench.run(['status'])).stdout).toMatch(/^held removals +7$/m);
  const accept = "UPDATE held_removals SET accepted_at = '2026-11-20T12:00:00.000Z' WHERE league_id IN ('l4', 'l5')";
  execute(bench.database, accept);
  expect((await bench.run(['status'])).stdout).toMatch(/^held removals +7 \(2 accepted\)$/m);
  await bench.run(['accept-removals', '--yes']);
  await poll(bench, makeLeagues(3), 0);
  expect((await bench.run(['status'])).stdout).toMatch(/^held removals +none$/m);
});

/** Whether tests can run as another user: root ignores file permissions. */
function canRunAsAnother(): boolean {
  return process.platform === 'linux' && runAsAnother(['--version'], '').status === 0;
}

function runAsAnother(args: readonly string[], database: string) {
  const user = process.getuid?.() === 0 ? { uid: NOBODY_ID, gid: NOBODY_ID } : {};
  const env = { PATH: process.env.PATH, LEAGUE_SYNC_DATABASE: database };
  return spawnSync(process.execPath, [PROGRAM, ...args], { cwd: '/', env, encoding: 'utf8', ...user });
}
