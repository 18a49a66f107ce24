import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { killIfAlive } from '../support/copy-process.ts';
import { makeFolder } from '../support/folder.ts';
import { watchProgram } from '../support/leak.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

it('npm start passes a signal on to the worker, which stops cleanly', async () => {
  await using service = await startSimulator();
  const { path: folder } = makeFolder();
  const env = {
    LEAGUE_SYNC_BASE_URL: service.url,
    LEAGUE_SYNC_USERNAME: 'player',
    LEAGUE_SYNC_PASSWORD: 'secret-password',
    LEAGUE_SYNC_DATABASE: join(folder, 'leagues.db'),
    LEAGUE_SYNC_LISTEN: 'off',
  };
  const npm = spawn('npm', ['start'], {
    cwd: PROJECT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  let log = '';
  watchProgram({ args: ['run'], cwd: folder, env }, () => ({ stdout: log }), once(npm, 'close'));
  // Kills the whole group, so that no orphan outlives a failed test.
  onTestFinished(() => killIfAlive(-(npm.pid ?? 0)));
  for await (const chunk of npm.stdout) {
    log += String(chunk);
    if (log.includes('"kind":"profile"') && !npm.killed) npm.kill('SIGTERM');
  }
  if (npm.exitCode === null && npm.signalCode === null) await once(npm, 'exit');
  expect(log).toContain('"msg":"stopped; all data saved');
  expect(readdirSync(folder)).toEqual(['leagues.db']);
});
