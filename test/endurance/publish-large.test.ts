import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type FrozenCopy, freezeCopy, pad } from '../support/copy-process.ts';
import type { RunningProgram } from '../support/program.ts';
import {
  countLeagues,
  identify,
  type PublishingBench,
  pollChange,
  setUpPublishing,
  startFresh,
} from '../support/publish-setup.ts';

/** A worker that is publishing a large database after a change; the earlier copy is small. */
async function startCopying(): Promise<PublishingBench & { worker: RunningProgram; copying: FrozenCopy }> {
  const bench = await setUpPublishing();
  expect((await bench.run(['sync'])).code).toBe(0);
  pad(bench.database);
  const worker = await startFresh(bench);
  await pollChange(bench, worker);
  return { ...bench, worker, copying: await freezeCopy(worker.pid, bench.shared) };
}

describe('while a large database is being copied', () => {
  it('the copy process is started again if it is killed', async () => {
    const { worker, copying, ...bench } = await startCopying();
    const before = identify(bench.copy);
    copying.kill();
    await worker.waitForLog(({ output, level }) => output === 'copy' && level === 40);
    expect(identify(bench.copy)).toEqual(before);
    await pollChange(bench, worker);
    await worker.waitForLog(({ msg }) => /^the published copy at .* works again/.test(String(msg)));
    expect(countLeagues(bench.copy)).toBe(3);
    expect((await worker.stop()).code).toBe(0);
    expect(readdirSync(bench.shared)).toEqual(['copy.db']);
  });
});
