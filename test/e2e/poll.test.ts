import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { setUp } from '../support/bench.ts';
import { withDatabase } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { eventually, runProgram, startProgram } from '../support/program.ts';

const SINCE = '2026-11-20T12:00:00.000Z';

describe('poll', () => {
  it('makes the worker poll now', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    expect(await bench.run(['poll'])).toEqual({
      code: 0,
      signal: null,
      stdout: `asked the worker (process ${worker.pid}) to poll now\n`,
      stderr: '',
    });
    await worker.waitForPoll('unchanged');
    expect(bench.rows('SELECT trigger FROM runs ORDER BY id')).toEqual([{ trigger: 'start' }, { trigger: 'manual' }]);
    expect((await worker.stop()).code).toBe(0);
  });

  it('needs no settings but the path of the database, and asks a demo too', async () => {
    const { path: cwd } = makeFolder();
    const demo = startProgram(['demo'], { cwd });
    await demo.waitForPoll('changed');
    const asked = await runProgram(['poll', '--database', join(cwd, 'demo-data/leagues.db')], {
      cwd: makeFolder().path,
    });
    expect(asked).toMatchObject({ code: 0, stderr: '' });
    await demo.waitForLog(({ msg }) => msg === 'SIGHUP: polling now');
    expect((await demo.stop()).code).toBe(0);
  });

  it('exits 1 if no worker runs, and 74 without a database', async () => {
    const bench = await setUp();
    expect(await bench.run(['poll'])).toMatchObject({ code: 74, stdout: '' });
    expect((await bench.run(['sync'])).code).toBe(0);
    expect(await bench.run(['poll'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^league-sync: no worker runs on .*leagues\.db -> start one with league-sync run/),
    });
    const worker = bench.start(['run']);
    await worker.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
    await worker.stop('SIGKILL');
    expect(await bench.run(['poll'])).toMatchObject({ code: 1, stderr: expect.stringContaining('no worker runs') });
  });

  it('exits 1 while sync holds the database, which goes on', async () => {
    const bench = await setUp();
    expect((await bench.run(['sync'])).code).toBe(0);
    bench.simulator.setFault('hang', true);
    const before = bench.simulator.requests.length;
    const sync = bench.start(['sync']);
    await eventually('the request hangs', () => bench.simulator.requests.length > before);
    expect(await bench.run(['poll'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`no worker runs: league-sync sync (process ${sync.pid} on`),
    });
    expect(sync.alive()).toBe(true);
  });

  it.each([
    ['of an older version', { command: null }, 'is of an older version'],
    ['on another host', { host: 'elsewhere' }, 'on elsewhere) runs on another machine'],
    ['in another PID namespace', { pid_namespace: 'pid:[1]' }, 'in another container'],
    ['on a machine that was started later', { boot_id: 'another' }, 'on another machine'],
    ['with an earlier start', { start_time: '1' }, 'on another machine'],
  ])('signals nobody if the lock names a process %s', async (_, differs, message) => {
    const bench = await setUp();
    expect((await bench.run(['sync'])).code).toBe(0);
    // SIGHUP ends this program.
    const other = spawn('sleep', ['60']);
    onTestFinished(() => void other.kill('SIGKILL'));
    await once(other, 'spawn');
    const worker = bench.start(['run']);
    await worker.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
    const [row] = withDatabase(`${bench.database}.lock`, (db) => db.prepare('SELECT * FROM process').all());
    await worker.stop('SIGKILL');
    const owner = { ...Object(row), host: hostname(), since: SINCE, pid: other.pid, ...differs };
    // A process that holds the lock, with a row that names the other one.
    const holding = await holdLock(bench.database, owner);
    const { code, stdout, stderr } = await bench.run(['poll']);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(message)]);
    expect(stderr).toContain(`kill -HUP ${other.pid}, docker kill -s HUP CONTAINER, or systemctl reload league-sync`);
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
    holding();
  });
});

const HOLD = `
  const Database = (await import('better-sqlite3')).default;
  const db = new Database(process.env.LOCK);
  const owner = JSON.parse(process.env.OWNER);
  db.exec('DELETE FROM holder; DELETE FROM process');
  db.prepare('INSERT INTO holder VALUES (@pid, @host, @since)').run(owner);
  db.prepare('INSERT INTO process VALUES (@pid, @since, @command, @boot_id, @pid_namespace, @start_time)').run(owner);
  db.exec('BEGIN IMMEDIATE');
  console.log('held');
  for await (const _ of process.stdin);
`;

/** Holds the lock of a database in another process, in the name of `owner`, until the result is called. */
async function holdLock(path: string, owner: object): Promise<() => void> {
  const env = { ...process.env, LOCK: `${path}.lock`, OWNER: JSON.stringify(owner) };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', HOLD], {
    cwd: join(import.meta.dirname, '../..'),
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return () => void child.kill('SIGKILL');
}
