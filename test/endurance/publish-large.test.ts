import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PASSWORD, USERNAME } from '../support/bench.ts';
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

/** The maximum duration of a stop by the contract. */
const LONGEST_STOP_MS = 10_000;

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
  it('the copy process has no setting and no secret, and is started again if it is killed', async () => {
    const { worker, copying, ...bench } = await startCopying();
    for (const told of [copying.argv, copying.environment]) {
      expect(told).not.toContain('LEAGUE_SYNC_');
      expect(told).not.toContain(PASSWORD);
      expect(told).not.toContain(Buffer.from(`${USERNAME}:${PASSWORD}`).toString('base64'));
    }
    expect(copying.environment).toContain('PATH=');
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

  it('sync waits for it, and ends on a signal without it', async () => {
    const bench = await setUpPublishing();
    expect((await bench.run(['sync'])).code).toBe(0);
    const before = identify(bench.copy);
    pad(bench.database);
    bench.change();
    const sync = bench.start(['sync']);
    const copying = await freezeCopy(sync.pid, bench.shared);
    expect(sync.alive()).toBe(true);
    const askedAt = performance.now();
    expect((await sync.stop()).code).toBe(143);
    expect(performance.now() - askedAt).toBeLessThan(LONGEST_STOP_MS);
    expect(copying.hasEnded()).toBe(true);
    expect(identify(bench.copy)).toEqual(before);
    expect(countLeagues(bench.database)).toBe(2);
  });
});
