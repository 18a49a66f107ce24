import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SimulatedBench } from '../../support/bench.ts';
import { mountDisk, NO_MOUNT } from '../../support/copy-process.ts';
import { askSqlite3, readRows } from '../../support/database.ts';
import { fingerprint } from '../../support/folder.ts';
import { setUpHeld } from '../../support/held-removals.ts';
import { makeLeagues } from '../../support/leagues.ts';
import type { Exit } from '../../support/program.ts';
import { expectSound } from '../syscalls/check.ts';
import { failing, type Injection, missingStrace } from '../syscalls/syscall.ts';
import { AS_NOBODY, fillDisk, remount } from './small-disk.ts';

/** The commands that use a database; `accept-removals` has held removals to accept. */
const COMMANDS = {
  sync: ['sync'],
  run: ['run'],
  profile: ['profile'],
  'sync --dry-run': ['sync', '--dry-run'],
  status: ['status'],
  query: ['query', 'SELECT * FROM leagues JOIN runs ORDER BY sport'],
  changes: ['changes'],
  backup: ['backup', 'copy.db'],
  'accept-removals': ['accept-removals', '--yes'],
} as const;
type CommandName = keyof typeof COMMANDS;

const WORKING = ['sync', 'run', 'profile'] as const;
const READING = ['status', 'query', 'changes', 'backup'] as const;
const SERVED = [...READING, 'sync --dry-run'] as const;
/** One that opens it for writing, one that reads it, one beside a worker: each start as another user takes a second. */
const SOME = ['sync', 'status', 'accept-removals'] as const;
const EVERY = Object.keys(COMMANDS) as readonly CommandName[];
const PAGE_BYTES = 4_096;
/** Files beside a database that are not databases. */
const COMPANION = /(-wal|-shm|-journal|\.lock)$/;

/** A database that no program has open, with held removals, on its own disk of 2 MB. */
type DiskPlace = SimulatedBench & { readonly disk: string };

/** A fault that was caused before a command starts. */
type AppliedFault = {
  /** Undoes the fault; missing if there is nothing to undo. */
  readonly undo?: () => void;
  /** Another path for the database. */
  readonly database?: string;
  /** The command that runs the program. */
  readonly through?: readonly string[];
};

/** Causes a fault of a disk or a file. */
type DiskFault = (place: DiskPlace) => AppliedFault;

const fill: DiskFault = ({ disk }) => {
  const filler = fillDisk(disk, 0);
  return { undo: () => rmSync(filler) };
};

/** Runs the program as a user with these permissions on the folder and the file. */
function leaveRights(folder: number, file: number): DiskFault {
  return ({ disk, database }) => {
    chmodSync(disk, folder);
    chmodSync(database, file);
    const undo = (): void => {
      chmodSync(disk, 0o777);
      chmodSync(database, 0o666);
    };
    return { through: AS_NOBODY, undo };
  };
}

/** Makes every call of this kind fail, on the database and the files beside it. */
function failAlways(call: Injection['call'], error: Injection['error']): DiskFault {
  return ({ database }) => ({
    through: failing(database, { call, error, nth: 1, upTo: 'for ever' }),
    undo: () => undefined,
  });
}

/** Changes the file; the one that there was is put back. */
function change(alter: (database: string) => void): DiskFault {
  return ({ database }) => {
    const kept = join(database, '..', '..', 'kept.db');
    copyFileSync(database, kept);
    alter(database);
    const undo = (): void => {
      rmSync(database, { recursive: true, force: true });
      execFileSync('cp', ['-p', kept, database]);
    };
    return { undo };
  };
}

/** Overwrites the pages of one table and its indexes with garbage. */
function damageTable(table: string): DiskFault {
  return change((database) => {
    const sql = `SELECT rootpage FROM sqlite_schema WHERE tbl_name = '${table}' AND rootpage > 0`;
    const bytes = readFileSync(database);
    for (const page of readRows(database, sql).map(({ rootpage }) => Number(rootpage)))
      bytes.fill(0xa5, (page - 1) * PAGE_BYTES, page * PAGE_BYTES);
    writeFileSync(database, bytes);
  });
}

type Condition = {
  readonly harm: DiskFault;
  /** The commands that are refused, with the fix that each one names. */
  readonly refused: readonly (readonly [readonly CommandName[], RegExp])[];
  readonly served?: readonly CommandName[];
};

const BESIDE = ['accept-removals'] as const;
const NO_DATABASE: Condition['refused'][number] = [
  [...READING, ...BESIDE],
  /There is no database at .*; check LEAGUE_SYNC_DATABASE or --database/,
];
const WANTS_PERMISSION = /; give the user \w+ write permission on the file and its folder\.$/;
const MAY_BE_READ = /cannot be read .*; give the user \w+ permission to read it/;
const IS_FULL = /the disk is full .*; free some space\.$/;
const CHECK_DISK = /; check the disk\.$/;

/** Commands in neither list have defects, covered below. */
const CONDITIONS: Readonly<Record<string, Condition>> = {
  'a full disk': { harm: fill, refused: [[WORKING, IS_FULL]], served: SERVED },
  'a read-only disk': {
    harm: (place) => {
      remount(place, 'ro');
      return { undo: () => remount(place, 'rw') };
    },
    refused: [[[...WORKING, ...BESIDE], /is on a read-only file system .*; remount it read-write/]],
    served: SERVED,
  },
  'a folder that may not be written': {
    harm: leaveRights(0o755, 0o644),
    refused: [[['sync', ...BESIDE], WANTS_PERMISSION]],
    served: ['status', 'sync --dry-run'],
  },
  'a folder that may not be looked into': { harm: leaveRights(0o700, 0o644), refused: [[SOME, MAY_BE_READ]] },
  'a folder that may not be made': {
    harm: ({ disk }) => {
      chmodSync(disk, 0o755);
      return { database: join(disk, 'new', 'leagues.db'), through: AS_NOBODY };
    },
    refused: [
      [['sync'], WANTS_PERMISSION],
      [['status'], NO_DATABASE[1]],
    ],
  },
  'a file that may not be written': {
    harm: leaveRights(0o777, 0o444),
    refused: [[['sync', ...BESIDE], WANTS_PERMISSION]],
    served: ['status', 'sync --dry-run'],
  },
  'a file that may not be read': { harm: leaveRights(0o777, 0o600), refused: [[SOME, MAY_BE_READ]] },
  'an empty file': {
    harm: change((database) => truncateSync(database, 0)),
    refused: [[[...READING, ...BESIDE], /is empty; start the worker, which fills it\.$/]],
    served: ['sync --dry-run'],
  },
  'a damaged lock file': {
    harm: ({ database }) => {
      writeFileSync(`${database}.lock`, 'x'.repeat(2 * PAGE_BYTES));
      return { undo: () => rmSync(`${database}.lock`) };
    },
    refused: [[WORKING, /; remove it if no worker is running on this database\.$/]],
    served: SERVED,
  },
  'a disk that cannot be read': { harm: failAlways('pread64', 'EIO'), refused: [[EVERY, CHECK_DISK]] },
  'a disk that cannot be written': {
    harm: failAlways('pwrite64', 'EIO'),
    refused: [[[...WORKING, ...BESIDE], CHECK_DISK]],
    served: SERVED,
  },
  'too many open files': { harm: failAlways('openat', 'EMFILE'), refused: [[['status'], /; raise the limit/]] },
};

/** What ends otherwise than with 74 or nothing changed. */
const OTHERS: readonly (readonly [string, DiskFault, CommandName, number, RegExp])[] = [
  ['accept-removals on a full disk', fill, 'accept-removals', 74, /the disk is full .*; free some space\.$/m],
  ['sync over damaged logins, which stores the leagues,', damageTable('logins'), 'sync', 0, /is damaged .*rescue/],
  ['sync without locks', failAlways('fcntl', 'ENOLCK'), 'sync', 75, /does not support locks .*local disk/],
];

async function setUpPlace(): Promise<DiskPlace> {
  const bench = await setUpHeld();
  // All leagues are listed again, so that a poll is an ordinary one; their removals stay held until then.
  bench.simulator.setLeagues(makeLeagues(10));
  const disk = mountDisk(join(bench.folder, 'disk'), 'size=2m');
  if (disk === undefined) throw new Error(NO_MOUNT);
  const database = join(disk, 'leagues.db');
  cpSync(bench.database, database);
  // Lets other users start the program here and write copies.
  chmodSync(bench.folder, 0o777);
  return { ...bench, disk, database };
}

/** Runs a command with this fault. */
function runOn(place: DiskPlace, command: CommandName, { database, through = [] }: AppliedFault): Promise<Exit> {
  const env = { LEAGUE_SYNC_DATABASE: database ?? place.database };
  return through.length === 0
    ? place.run(COMMANDS[command], env)
    : place.runProcess(COMMANDS[command], env, { through });
}

/** Expects exit code 74, one line with the path and the fix, and no change on the disk. */
async function expectRefusal(place: DiskPlace, command: CommandName, harmed: AppliedFault, fix: RegExp) {
  const before = contentOf(place.disk);
  const { code, signal, stderr } = await runOn(place, command, harmed);
  const what = `${command}\n${stderr}`;
  expect([code, signal], what).toEqual([74, null]);
  const said = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect(said, what).toHaveLength(1);
  expect(said[0], what).toMatch(/^league-sync: /);
  expect(said[0], what).toContain(harmed.database ?? place.database);
  expect(said[0], what).toMatch(fix);
  expect(contentOf(place.disk), what).toEqual(before);
}

/** Expects that the command succeeds and does not write to the disk. */
async function expectService(place: DiskPlace, command: CommandName, harmed: AppliedFault): Promise<void> {
  const before = fingerprint(place.disk);
  const { code, stderr } = await runOn(place, command, harmed);
  expect(code, `${command}\n${stderr}`).toBe(0);
  expect(fingerprint(place.disk), command).toEqual(before);
}

/** Expects that the next `sync` succeeds and leaves one intact file. */
async function expectGoesOn(place: DiskPlace): Promise<void> {
  place.simulator.setLeagues(makeLeagues(11));
  const { code, stderr } = await runOn(place, 'sync', {});
  expect(code, stderr).toBe(0);
  expect(askSqlite3(place.database, 'SELECT count(*) AS n FROM leagues WHERE removed_at IS NULL')).toEqual([{ n: 11 }]);
  expectSound(place, 'after the fault');
  expect(readdirSync(dirname(place.database))).toEqual(['leagues.db']);
}

/** Every file except the sidecar files, which a refused command may have created. */
function contentOf(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fingerprint(folder)).filter(([name]) => !COMPANION.test(name)));
}

describe('a start on', () => {
  it.each(Object.entries(CONDITIONS))(
    '%s: who cannot go on says with 74 where and what to do, who can does, nothing is made, and a sync goes on after',
    async (_, { harm, refused, served = [] }) => {
      expect(missingStrace()).toBeUndefined();
      const place = await setUpPlace();
      const harmed = harm(place);
      for (const [commands, fix] of refused)
        for (const command of commands) await expectRefusal(place, command, harmed, fix);
      for (const command of served) await expectService(place, command, harmed);
      if (harmed.undo === undefined) return;
      harmed.undo();
      await expectGoesOn(place);
    },
  );
});

it.each(OTHERS)('%s says what to do', async (_, harm, command, code, fix) => {
  const place = await setUpPlace();
  expect(await runOn(place, command, harm(place))).toMatchObject({ code, stderr: expect.stringMatching(fix) });
});
