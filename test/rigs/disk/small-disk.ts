import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, statfsSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { codeOf } from '../../../src/errors.ts';
import { addSettings, type Bench, setUpFor } from '../../support/bench.ts';
import { mountDisk } from '../../support/copy-process.ts';
import { readRows } from '../../support/database.ts';
import { makeLeagues } from '../../support/leagues.ts';
import type { RunningProgram } from '../../support/program.ts';
import { grantLogin, listLeagues, startService } from '../../support/service.ts';

/** Runs a program as the unprivileged user `nobody` of Debian. */
export const AS_NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];

const DISK = 'size=2m';
const PAGE_BYTES = 4_096;
const LEAGUES = 100;

/** A bench with the database on its own disk of 2 MB, and a service whose list a test can change. */
export type DiskBench = Bench & {
  readonly disk: string;
  /** Changes every league: more than fits into a few pages. */
  readonly change: () => void;
};

/** The database lies in this folder of the disk. Undefined if this user may not mount. */
export async function setUpDisk(inside = '.'): Promise<DiskBench | undefined> {
  let sport = 0;
  const { url } = await startService({
    login: grantLogin({ access_token: 'the-one-token' }),
    leagues: () => listLeagues(makeLeagues(LEAGUES, { sport: `sport ${sport}` })),
  });
  const bench = setUpFor(url);
  const disk = mountDisk(join(bench.folder, 'disk'), DISK);
  if (disk === undefined) return undefined;
  const database = join(disk, inside, 'leagues.db');
  mkdirSync(dirname(database), { recursive: true });
  const onDisk = addSettings(bench, { LEAGUE_SYNC_DATABASE: database });
  return {
    ...onDisk,
    disk,
    database,
    run: onDisk.runProcess,
    rows: (sql) => readRows(database, sql),
    change: () => {
      sport += 1;
    },
  };
}

/** Requests a poll, and expects that it fails with the path and the fix, and that the worker keeps running. */
export async function expectFailedPoll(bench: DiskBench, worker: RunningProgram, fix: RegExp): Promise<void> {
  const { outcome, err, msg } = await worker.pollNow();
  expect(outcome).toBe('failed');
  if (!isRepeated(msg)) {
    expect(err).toMatchObject({ kind: 'database', message: expect.stringContaining(bench.database) });
    expect((err as { message: string }).message).toMatch(fix);
  }
  expect(worker.alive()).toBe(true);
}

/** Whether a failure is logged as a repetition. */
function isRepeated(msg: unknown): boolean {
  return /^leagues: failed( as before|: )/.test(String(msg));
}

/** Expects that all leagues have the same sport: otherwise a poll was applied partially. */
export function tableOf({ rows }: Pick<DiskBench, 'rows'>): readonly unknown[] {
  return rows('SELECT sport, count(*) AS n FROM leagues GROUP BY sport');
}

/**
 * Fills the disk except for about this many pages; a running worker may take the last ones first. Returns the filler
 * file.
 */
export function fillDisk(disk: string, pages: number): string {
  const filler = join(disk, 'filler');
  const file = openSync(filler, 'wx');
  try {
    const room = statfsSync(disk).bavail * statfsSync(disk).bsize;
    const bytes = Buffer.alloc(PAGE_BYTES);
    for (let left = room - pages * PAGE_BYTES; left > 0; left -= PAGE_BYTES) writeSync(file, bytes);
  } catch (error) {
    if (codeOf(error) !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
  return filler;
}

/** Remounts a disk without open files read-only or writable. */
export function remount({ disk }: Pick<DiskBench, 'disk'>, how: 'ro' | 'rw'): void {
  execFileSync(MOUNT, ['-o', `remount,${how}`, disk]);
}

const MOUNT = 'mount';
