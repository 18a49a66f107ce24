import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addSettings, type SimulatedBench, setUp } from '../support/bench.ts';
import { readExactRows } from '../support/database.ts';
import { makeLeagues } from '../support/leagues.ts';

/** Debian 12 has no package of it: test/integration/litestream.test.ts does the same with a stand-in. */
const HAS_LITESTREAM = spawnSync('litestream', ['version']).status === 0;
/** Litestream copies what is new each second. */
const SLOW = { interval: 200, timeout: 20_000 };
const WHAT_COUNTS = ['SELECT * FROM leagues ORDER BY league_id', 'SELECT * FROM league_changes ORDER BY seq'];

function replicate(path: string, replica: string): ChildProcess {
  const litestream = spawn('litestream', ['replicate', path, replica], { stdio: 'ignore' });
  onTestFinished(() => void litestream.kill('SIGKILL'));
  return litestream;
}

function restore(replica: string, path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  execFileSync('litestream', ['restore', '-o', path, replica], { stdio: 'ignore' });
}

/** Restores the replica, again and again, until it has all leagues and changes of the database. */
async function expectReplicated({ database, folder }: SimulatedBench, replica: string): Promise<string> {
  const path = `${folder}/restored.db`;
  const read = (file: string): unknown => WHAT_COUNTS.map((sql) => readExactRows(file, sql));
  const compare = (): unknown => {
    restore(replica, path);
    expect(read(path)).toEqual(read(database));
    return 'equal';
  };
  await expect.poll(compare, SLOW).toBe('equal');
  return path;
}

if (!HAS_LITESTREAM) console.warn('skipped: litestream is not here');

describe.runIf(HAS_LITESTREAM)('Litestream', () => {
  it('replicates a worker through its restarts, and a worker goes on from the replica', async () => {
    const bench = addSettings(await setUp({ leagues: makeLeagues(50) }), { LEAGUE_SYNC_KEEP_WAL: 'true' });
    const replica = `file://${bench.folder}/replica`;
    let worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    const litestream = replicate(bench.database, replica);
    await expectReplicated(bench, replica);
    for (let count = 51; count < 55; count += 1) {
      bench.simulator.setLeagues(makeLeagues(count));
      await worker.pollNow('changed');
      await expectReplicated(bench, replica);
      expect((await worker.stop()).code).toBe(0);
      worker = bench.start(['run']);
      await worker.waitForLog(({ msg }) => /^logged in/.test(String(msg)));
    }
    await worker.stop('SIGKILL');
    const path = await expectReplicated(bench, replica);
    const ended = once(litestream, 'exit');
    litestream.kill('SIGKILL');
    await ended;
    bench.simulator.setLeagues(makeLeagues(55));
    const { code, stdout } = await bench.run(['sync'], { LEAGUE_SYNC_DATABASE: path });
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 added')]);
  });
});
