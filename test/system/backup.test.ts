import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SimulatorOptions } from '../../src/simulator/simulator.ts';
import { type Bench, EVERY_SECOND, setUpSynced } from '../support/bench.ts';
import { freezeCopy, pad } from '../support/copy-process.ts';
import { readRows } from '../support/database.ts';

/** A database that takes long to copy. */
async function setUpLarge(options: SimulatorOptions = {}): Promise<Bench & { readonly copies: string }> {
  const bench = await setUpSynced(options);
  pad(bench.database);
  const copies = join(bench.folder, 'copies');
  mkdirSync(copies);
  return { ...bench, copies };
}

describe('a backup in the middle of which', () => {
  it('SIGTERM comes ends at once with 143 and leaves nothing', async () => {
    const bench = await setUpLarge();
    const backup = bench.start(['backup', 'copies/copy.db']);
    const copying = await freezeCopy(backup.pid, bench.copies);
    // The copy process is suspended, so waiting for it would never end.
    const { code, stdout } = await backup.stop('SIGTERM');
    expect([code, stdout]).toEqual([143, '']);
    expect(copying.hasEnded()).toBe(true);
    expect(readdirSync(bench.copies)).toEqual([]);
    expect(readdirSync(dirname(bench.database))).toEqual(['leagues.db']);
  });

  it('another one to the same path is done exits 64, and the other copy is whole', async () => {
    const bench = await setUpLarge();
    const slow = bench.start(['backup', 'copies/copy.db']);
    const copying = await freezeCopy(slow.pid, bench.copies);
    expect((await bench.run(['backup', 'copies/copy.db'])).code).toBe(0);
    const { ino, mtimeMs } = statSync(join(bench.copies, 'copy.db'));
    copying.goOn();
    const { code, stderr } = await slow.waitForExit();
    expect([code, stderr]).toEqual([64, expect.stringContaining('copies/copy.db')]);
    expect(statSync(join(bench.copies, 'copy.db'))).toMatchObject({ ino, mtimeMs });
    expect(readRows(join(bench.copies, 'copy.db'), 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(readdirSync(bench.copies)).toEqual(['copy.db']);
  });

  it('the copying process is killed exits 74, says so and leaves nothing', async () => {
    const bench = await setUpLarge();
    const backup = bench.start(['backup', 'copies/copy.db']);
    (await freezeCopy(backup.pid, bench.copies)).kill();
    const { code, stderr } = await backup.waitForExit();
    expect([code, stderr]).toEqual([74, expect.stringContaining('the copy process was killed')]);
    expect(readdirSync(bench.copies)).toEqual([]);
  });

  it('the process that wanted it has ended leaves nothing', async () => {
    const bench = await setUpSynced();
    const copies = join(bench.folder, 'copies');
    mkdirSync(copies);
    const args = (parent: number) => ['copy', '--parent', String(parent), bench.database, 'copies/copy.db'];
    expect((await bench.runProcess(args(1))).code).toBe(0);
    expect(readdirSync(copies)).toEqual([]);
    expect((await bench.runProcess(args(process.pid))).code).toBe(0);
    expect(readdirSync(copies)).toEqual(['copy.db']);
  });

  it('the worker goes on polling comes to its end, with the state as it was when it began', async () => {
    const { copies, ...bench } = await setUpLarge({ churnMs: 40 });
    const worker = bench.startWorker({ LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
    await worker.waitForPoll();
    const backup = bench.start(['backup', 'copies/copy.db']);
    const copying = await freezeCopy(backup.pid, copies);
    const [{ n: atLeast } = { n: 0 }] = bench.rows('SELECT max(seq) AS n FROM league_changes');
    await worker.waitForPoll('changed');
    await worker.waitForPoll('changed');
    copying.goOn();
    expect((await backup.waitForExit()).code).toBe(0);
    const [{ n: copied } = { n: 0 }] = readRows(join(copies, 'copy.db'), 'SELECT max(seq) AS n FROM league_changes');
    expect(Number(copied)).toBeLessThanOrEqual(Number(atLeast));
    expect(readRows(join(copies, 'copy.db'), 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect((await worker.stop()).code).toBe(0);
  });
});
