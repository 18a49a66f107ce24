import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SimulatedBench } from '../support/bench.ts';
import { readRows } from '../support/database.ts';
import { leaveDemo, runDemo, setUpPlace } from '../support/demo-path.ts';
import { startProgram } from '../support/program.ts';

type Make = (place: SimulatedBench) => Promise<void> | void;

async function beginAnew({ folder }: SimulatedBench): Promise<void> {
  const demo = startProgram(['demo'], { cwd: folder });
  await demo.waitForPoll('changed');
  const { code, stderr } = await demo.stop();
  expect([code, stderr]).toEqual([0, '']);
}

describe('what a demo replaces', () => {
  const REPLACED: readonly (readonly [what: string, make: Make])[] = [
    ['nothing', () => undefined],
    [
      'an empty file',
      ({ database }) => {
        mkdirSync(dirname(database));
        writeFileSync(database, '');
      },
    ],
    ['a demo’s database', (place) => leaveDemo(place, 'SIGTERM')],
    ['the database of a killed demo', (place) => leaveDemo(place, 'SIGKILL')],
    [
      'a demo’s database that was only read since',
      async (place) => {
        await leaveDemo(place, 'SIGTERM');
        for (const args of [['status'], ['changes'], ['check'], ['backup', 'copy.db']])
          expect((await place.run(args)).code).toBeLessThan(2);
        // It belongs to the simulated service of the demo.
        for (const args of [['sync', '--dry-run'], ['sync'], ['profile'], ['run']])
          expect((await place.run(args)).code).toBe(78);
      },
    ],
    [
      'a file whose first transaction was cut short',
      async (place) => {
        await leaveDemo(place, 'SIGTERM');
        writeHotJournal(place.database);
      },
    ],
  ];

  it.each(REPLACED)('is %s', async (_, make) => {
    const place = await setUpPlace();
    await make(place);
    const before = existsSync(place.database) ? readFileSync(place.database) : Buffer.alloc(0);
    await beginAnew(place);
    expect(readdirSync(dirname(place.database))).toEqual(['leagues.db']);
    expect(readFileSync(place.database).equals(before)).toBe(false);
    expect(
      readRows(place.database, "SELECT count(*) AS n FROM league_changes WHERE run_id = 1 AND kind = 'added'"),
    ).toEqual([{ n: 124 }]);
  });

  it('includes what a demo leaves that is killed right after its start', async () => {
    const place = await setUpPlace();
    for (let round = 0; round < 8; round += 1) {
      const demo = startProgram(['demo'], { cwd: place.folder });
      await demo.waitForLog(({ msg }) => String(msg).startsWith('database: '));
      await new Promise((wake) => setTimeout(wake, round * 4));
      await demo.stop('SIGKILL');
    }
    await beginAnew(place);
  });
});

/** Writes a hot journal of a first transaction that was killed before its commit: the database had no pages before. */
function writeHotJournal(path: string): void {
  const header = Buffer.alloc(512);
  header.write('d9d505f920a163d7', 'hex');
  // Sector size and page size; the number of pages in the journal, and of the original database: none.
  header.writeUInt32BE(512, 20);
  header.writeUInt32BE(4096, 24);
  writeFileSync(`${path}-journal`, header);
}

describe('the place of a demo', () => {
  it('is one demo’s at a time: a second one is refused with 75, and deletes nothing', async () => {
    const place = await setUpPlace();
    const demo = startProgram(['demo'], { cwd: place.folder });
    await demo.waitForPoll('changed');
    const { code, stdout, stderr } = await runDemo(place);
    expect([code, stdout]).toEqual([75, '']);
    expect(stderr).toContain(`process ${demo.pid} `);
    await demo.waitForPoll();
    expect((await demo.stop()).code).toBe(0);
    expect(readRows(place.database, 'SELECT count(*) AS n FROM leagues')[0]?.n).toBeGreaterThanOrEqual(124);
  });

  it('is refused with 75 while a worker runs on a database there', async () => {
    const place = await setUpPlace();
    const worker = place.start(['run']);
    await worker.waitForPoll('changed');
    expect((await runDemo(place)).code).toBe(75);
    expect((await worker.stop()).code).toBe(0);
    expect(readRows(place.database, 'SELECT count(*) AS n FROM leagues')).toEqual([{ n: 124 }]);
  });
});
