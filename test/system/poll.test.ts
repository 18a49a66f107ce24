import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';

/** Runs the program in a PID namespace of its own, like a container that shares a volume. */
const ELSEWHERE = ['unshare', '--fork', '--pid', '--mount-proc', '--kill-child'];
const AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];

function missing(through: readonly string[]): string | undefined {
  const [command = '', ...args] = through;
  try {
    execFileSync(command, [...args, process.execPath, '--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return `${command} does not work here`;
  }
}

describe('poll across PID namespaces', () => {
  beforeEach(({ skip }) => skip(missing(ELSEWHERE) !== undefined, missing(ELSEWHERE)));

  it.each([
    ['from', ELSEWHERE, []],
    ['to', [], ELSEWHERE],
  ])('asks through the database %s another one', async (_, asker, worked) => {
    const bench = await setUp();
    const worker = bench.start(['run'], {}, { through: worked });
    await worker.waitForPoll('changed');
    const { code, stdout } = await bench.runProcess(['poll'], {}, { through: asker });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^leagues: unchanged: /)]);
    expect(bench.rows('SELECT trigger FROM runs ORDER BY id')).toEqual([{ trigger: 'start' }, { trigger: 'manual' }]);
  });
});

it('poll withdraws a request that a hanging worker does not take within 30 s', async () => {
  const bench = await setUp();
  const worker = bench.start(['run']);
  await worker.waitForPoll('changed');
  process.kill(Number(worker.pid), 'SIGSTOP');
  const { code, stderr } = await bench.run(['poll']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('did not take the request within 30 s')]);
  expect(bench.rows('SELECT * FROM poll_requests')).toEqual([]);
  process.kill(Number(worker.pid), 'SIGCONT');
}, 60_000);

it('poll names the user who may not write the database', async ({ skip }) => {
  skip(missing(AS_NOBODY) !== undefined, missing(AS_NOBODY));
  const bench = await setUp();
  mkdirSync(dirname(bench.database));
  for (const folder of [bench.folder, dirname(bench.database)]) chmodSync(folder, 0o755);
  const worker = bench.start(['run']);
  await worker.waitForPoll('changed');
  const { code, stdout, stderr } = await bench.runProcess(['poll'], {}, { through: AS_NOBODY });
  expect([code, stdout, stderr]).toEqual([74, '', expect.stringContaining('nobody')]);
  expect(worker.alive()).toBe(true);
});
