import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { codeOf } from '../../src/errors.ts';
import { type Bench, EVERY_SECOND, setUpFor } from './bench.ts';
import { mountDisk } from './copying.ts';
import { ask } from './database.ts';
import type { RunningProgram } from './program.ts';
import { grantLogin, listLeagues, makeLeague, startService } from './service.ts';
import { expectSound } from './syscall-check.ts';

const DISK = 'size=2m';
const PAGE_BYTES = 4_096;
const LEAGUES = 100;
/** Polls that fail one after the other before there is room again. */
const FAILURES = 2;

/** A bench whose database has a disk of 2 MB to itself, and a service whose list can be made another one. */
export type DiskBench = Bench & {
  readonly disk: string;
  /** Every league becomes another one: more than fits into a few pages. */
  readonly change: () => void;
};

/** Undefined where this user may not mount. */
export async function setUpDisk(): Promise<DiskBench | undefined> {
  const list = { sport: 0 };
  const { url } = await startService(({ endpoint }) =>
    endpoint === 'login'
      ? grantLogin('the-one-token')
      : listLeagues(
          Array.from({ length: LEAGUES }, (_, index) => makeLeague(`l${index}`, { sport: `sport ${list.sport}` })),
        ),
  );
  const bench = setUpFor(url);
  const disk = mountDisk(join(bench.folder, 'disk'), DISK);
  if (disk === undefined) return undefined;
  const database = join(disk, 'leagues.db');
  const more = { LEAGUE_SYNC_DATABASE: database };
  return {
    ...bench,
    disk,
    database,
    run: (args, env = {}) => bench.run(args, { ...more, ...env }),
    start: (args, env = {}) => bench.start(args, { ...more, ...env }),
    rows: (sql) => ask(database, sql),
    change: () => {
      list.sport += 1;
    },
  };
}

/** A worker that polls every second, and has the first list. */
export async function startOnDisk(bench: DiskBench): Promise<RunningProgram> {
  const worker = bench.start(['run'], { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
  await worker.waitForPoll('changed');
  return worker;
}

/** Leaves room for so many pages, has polls fail on that, makes room again, and has the worker catch up by itself. */
export async function outlastFullDisk(bench: DiskBench, worker: RunningProgram, pages: number): Promise<void> {
  const before = tableOf(bench);
  fill(bench, pages);
  bench.change();
  for (let failures = 0; failures < FAILURES; failures += 1) {
    const { err } = await worker.waitForPoll('failed');
    const { message } = err as { message: string };
    expect(message).toContain(bench.database);
    expect(message).toContain('the disk is full (SQLITE_FULL); free some space.');
  }
  expect(tableOf(bench)).toEqual(before);
  rmSync(fillerOf(bench));
  await worker.waitForPoll('changed');
  expect(tableOf(bench)).not.toEqual(before);
  expect(tableOf(bench)).toHaveLength(1);
  expectSound(bench, `${pages} pages`);
  expect(bench.rows("SELECT id FROM runs WHERE outcome IN ('running', 'interrupted')")).toEqual([]);
}

/** All leagues have one sport, or a poll was applied by halves. */
function tableOf({ rows }: DiskBench): readonly unknown[] {
  return rows('SELECT sport, count(*) AS n FROM leagues GROUP BY sport');
}

function fillerOf({ disk }: DiskBench): string {
  return join(disk, 'filler');
}

/** Up to about so many pages: the worker writes meanwhile, and may be first to take the last ones. */
function fill(bench: DiskBench, pages: number): void {
  const file = openSync(fillerOf(bench), 'wx');
  try {
    const room = statfsSync(bench.disk).bavail * statfsSync(bench.disk).bsize;
    const bytes = Buffer.alloc(PAGE_BYTES);
    for (let left = room - pages * PAGE_BYTES; left > 0; left -= PAGE_BYTES) writeSync(file, bytes);
  } catch (error) {
    if (codeOf(error) !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

/** Makes a disk that nobody has open read-only, or writable again. */
export function remount({ disk }: DiskBench, how: 'ro' | 'rw'): void {
  execFileSync(MOUNT, ['-o', `remount,${how}`, disk]);
}

const MOUNT = 'mount';
