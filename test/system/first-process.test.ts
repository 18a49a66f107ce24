import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { childrenOf } from '../rigs/soak/sample.ts';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import { expectInOrder } from '../support/stopping.ts';

/** Runs the program as in a container: as process 1, for which the kernel ignores signals without a handler. */
const UNSHARE = 'unshare';
const OF_ITS_OWN = ['--fork', '--pid', '--mount-proc', '--kill-child'];

/** A worker that is process 1, and a function that signals it from outside; `pid` is that of its parent. */
async function startAsFirst(bench: SimulatedBench) {
  const worker = bench.start(['run'], {}, { through: [UNSHARE, ...OF_ITS_OWN] });
  const started = await worker.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
  expect(started.msg).toContain('(process 1)');
  const [pid] = childrenOf(worker.pid).map(Number);
  if (pid === undefined) throw new Error('process 1 is not a child of unshare');
  return { worker, pid, send: (signal: NodeJS.Signals) => process.kill(pid, signal) };
}

function missing(): string | undefined {
  try {
    execFileSync(UNSHARE, [...OF_ITS_OWN, 'true'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'no process can be process 1 here';
  }
}

const reason = missing();
if (reason !== undefined) console.warn(`skipped: ${reason}`);

describe.skipIf(reason !== undefined)('a worker that is process 1 of a container', () => {
  it('polls at once on SIGHUP, and ends cleanly with 0 on SIGTERM', async () => {
    const bench = await setUp();
    const { worker, send } = await startAsFirst(bench);
    await worker.waitForPoll('changed');
    send('SIGHUP');
    await worker.waitForPoll('unchanged');
    send('SIGTERM');
    expect((await worker.waitForExit()).code).toBe(0);
    expect(worker.log().at(-1)?.msg).toMatch(/^stopped\b/);
    expectInOrder(bench.database);
  });
});
