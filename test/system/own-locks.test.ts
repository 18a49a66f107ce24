import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EVERY_SECOND } from '../support/bench.ts';
import { readRows } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { pollChange, published, setUpPublishing } from '../support/publish-setup.ts';

/** A reader with write permission: as the last one to close the database, it would delete the WAL. */
function readAsMayWrite(path: string): void {
  execFileSync('sqlite3', ['-cmd', '.timeout 5000', path, 'SELECT count(*) FROM leagues']);
}

function countRuns(path: string): number {
  return Number(readRows(path, 'SELECT count(*) AS n FROM runs')[0]?.n);
}

it('a worker that publishes keeps its locks on the database, so that no reader deletes its WAL', async () => {
  const bench = await setUpPublishing();
  expect((await bench.run(['sync'])).code).toBe(0);
  const worker = bench.start(['run'], { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
  await worker.waitForPoll();
  await pollChange(bench, worker);
  await published(bench, 2);
  readAsMayWrite(bench.database);
  expect(existsSync(`${bench.database}-wal`)).toBe(true);
  await pollChange(bench, worker);
  await worker.stop('SIGKILL');
  expect(readRows(bench.database, 'SELECT count(*) AS n FROM leagues')).toEqual([{ n: 3 }]);
});

it('the demo, which reads its own database, keeps its locks, too', async () => {
  const { path: folder } = makeFolder();
  const path = join(folder, 'demo-data', 'leagues.db');
  mkdirSync(join(folder, 'demo-data'));
  const demo = startProgram(['demo'], { cwd: folder });
  await demo.waitForPoll('changed');
  await demo.waitForPoll();
  readAsMayWrite(path);
  expect(existsSync(`${path}-wal`)).toBe(true);
  const before = countRuns(path);
  await demo.waitForPoll();
  await demo.stop('SIGKILL');
  expect(countRuns(path)).toBeGreaterThan(before);
});
