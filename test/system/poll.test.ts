import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
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

const noNamespace = missing(ELSEWHERE);
const noUser = missing(AS_NOBODY);
for (const reason of [noNamespace, noUser]) if (reason !== undefined) console.warn(`skipped: ${reason}`);

describe.skipIf(noNamespace !== undefined)('poll across PID namespaces', () => {
  it('signals no process of its own namespace for a worker of another', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    const { code, stdout, stderr } = await bench.runProcess(['poll'], {}, { through: ELSEWHERE });
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('in another container')]);
    expect((await bench.run(['poll'])).code).toBe(0);
    await worker.waitForPoll('unchanged');
    expect(bench.rows('SELECT count(*) AS n FROM runs')).toEqual([{ n: 2 }]);
  });

  it('signals nobody from outside of the namespace of the worker, where the same process has another id', async () => {
    const bench = await setUp();
    const worker = bench.start(['run'], {}, { through: ELSEWHERE });
    await worker.waitForPoll('changed');
    const before = readlinkSync('/proc/self/ns/pid');
    const { code, stdout, stderr } = await bench.run(['poll']);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/process 1 on .*in another container/)]);
    expect(readlinkSync('/proc/self/ns/pid')).toBe(before);
    expect(await bench.run(['status', '--json'])).toMatchObject({ stdout: expect.stringContaining('"pid":1,') });
    expect(bench.rows('SELECT count(*) AS n FROM runs')).toEqual([{ n: 1 }]);
  });
});

describe.skipIf(noUser !== undefined)('poll as another user', () => {
  it('says that this user may not signal the worker', async () => {
    const bench = await setUp();
    mkdirSync(dirname(bench.database));
    for (const folder of [bench.folder, dirname(bench.database)]) chmodSync(folder, 0o755);
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    const { code, stdout, stderr } = await bench.runProcess(['poll'], {}, { through: AS_NOBODY });
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringContaining(
        `may not send a signal to the worker (process ${worker.pid}) -> run this as the user of the worker, or as root`,
      ),
    ]);
    expect(worker.alive()).toBe(true);
  });
});
