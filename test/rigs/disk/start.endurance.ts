import { describe, expect, it } from 'vitest';
import { NO_MOUNT } from '../../support/copy-process.ts';
import { missingStrace } from '../syscalls/syscall.ts';
import * as harm from './faults.ts';
import {
  type CommandName,
  EVERY,
  expectGoesOn,
  expectRefusal,
  expectService,
  READING,
  setUpPlace,
  WORKING,
} from './setup.ts';

type Condition = {
  readonly harm: harm.DiskFault;
  /** The commands that are refused, with the fix that each one names. */
  readonly refused: Refusals;
  readonly served: readonly CommandName[];
};
type Refusals = readonly (readonly [readonly CommandName[], RegExp])[];

const BESIDE = ['accept-removals'] as const;
const NO_DATABASE: Refusals[number] = [
  [...READING, ...BESIDE],
  /There is no database at .*; check LEAGUE_SYNC_DATABASE or --database/,
];
const WANTS_PERMISSION = /; give the user \w+ write permission on the file and its folder\.$/;
const READ_ONLY = /is on a read-only file system .*; remount it read-write/;
const MAY_BE_READ = /cannot be read .*; give the user \w+ permission to read it/;
const IS_DAMAGED: Refusals = [[EVERY, /is damaged .*; set it aside and restore a backup, or rescue what is left/]];
const IS_NO_DATABASE: Refusals = [[EVERY, /is not an SQLite database .*; name another file, or restore this one/]];
const CHECK_DISK = /; check the disk\.$/;

/** Commands in neither list have defects, covered by trouble.test.ts. */
const CONDITIONS: Readonly<Record<string, Condition>> = {
  'a full disk': {
    harm: harm.fill,
    refused: [[WORKING, /the disk is full .*; free some space\.$/]],
    served: [...READING, 'sync --dry-run'],
  },
  'a full disk without a database': {
    harm: harm.both(harm.remove, harm.fill),
    refused: [[WORKING, /the disk is full .*; free some space\.$/], NO_DATABASE],
    served: [],
  },
  'a read-only disk': {
    harm: harm.makeReadOnly,
    refused: [[[...WORKING, ...BESIDE], READ_ONLY]],
    served: [...READING, 'sync --dry-run'],
  },
  'a folder that may not be written': {
    harm: harm.leaveRights(0o755, 0o644),
    refused: [[[...WORKING, ...BESIDE], WANTS_PERMISSION]],
    served: [...READING, 'sync --dry-run'],
  },
  'a folder that may not be looked into': {
    harm: harm.leaveRights(0o700, 0o644),
    refused: [[EVERY, MAY_BE_READ]],
    served: [],
  },
  'a folder that may not be made': {
    harm: harm.nameFolderOfOthers,
    refused: [[WORKING, WANTS_PERMISSION], NO_DATABASE],
    served: [],
  },
  'a file that may not be written': {
    harm: harm.leaveRights(0o777, 0o444),
    refused: [[[...WORKING, ...BESIDE], /; give the user \w+ write permission on the file and its folder\.$/]],
    served: [...READING, 'sync --dry-run'],
  },
  'a file that may not be read': {
    harm: harm.leaveRights(0o777, 0o600),
    refused: [[EVERY, MAY_BE_READ]],
    served: [],
  },
  'a path that leads through a file': {
    harm: harm.namePathThroughFile,
    refused: [[WORKING, /; check its path, and the permissions of the file and its folder\.$/], NO_DATABASE],
    served: [],
  },
  'a folder in the place of the file': {
    harm: harm.putFolder,
    refused: [[EVERY, /is a folder; name a file for the database/]],
    served: [],
  },
  'no file': { harm: harm.remove, refused: [NO_DATABASE], served: ['sync --dry-run'] },
  'an empty file': {
    harm: harm.empty,
    refused: [[[...READING, ...BESIDE], /is empty; start the worker, which fills it\.$/]],
    served: ['sync --dry-run'],
  },
  'a file with a damaged header': { harm: harm.damage(0, 100), refused: IS_NO_DATABASE, served: [] },
  'a file with damaged pages': { harm: harm.damage(4_096), refused: IS_DAMAGED, served: [] },
  'a file that was cut short': { harm: harm.cutShort, refused: IS_DAMAGED, served: [] },
  'a text': { harm: harm.writeText, refused: IS_NO_DATABASE, served: [] },
  'the database of another application': {
    harm: harm.replaceByOther,
    refused: [[EVERY, /is left as it is; name another file in LEAGUE_SYNC_DATABASE\.$/]],
    served: [],
  },
  'a newer schema': {
    harm: harm.alter('PRAGMA user_version = 99'),
    refused: [
      [
        [...WORKING, ...BESIDE, 'sync --dry-run'],
        /by a newer version of league-sync .*; use that version, or go back to the copy .*\.$/,
      ],
    ],
    served: READING,
  },
  'a damaged lock file': {
    harm: harm.damageLock,
    refused: [[WORKING, /; remove it if no worker is running on this database\.$/]],
    served: [...READING, 'sync --dry-run'],
  },
  'a disk that cannot be read': {
    harm: harm.failAlways('pread64', 'EIO'),
    refused: [[EVERY, CHECK_DISK]],
    served: [],
  },
  'a disk that cannot be written': {
    harm: harm.failAlways('pwrite64', 'EIO'),
    refused: [[[...WORKING, ...BESIDE], CHECK_DISK]],
    served: [...READING, 'sync --dry-run'],
  },
  'a disk that keeps nothing': {
    harm: harm.failAlways('fsync', 'EIO'),
    refused: [[WORKING, CHECK_DISK]],
    served: [...READING, 'sync --dry-run'],
  },
};

describe('a start on', () => {
  it.for(Object.entries(CONDITIONS))(
    '%s: who cannot go on says with 74 where and what to do, who can does, nothing is made, and a sync goes on after',
    async ([, condition], { skip }) => {
      skip(missingStrace() !== undefined, missingStrace());
      const place = await setUpPlace();
      if (place === undefined) return skip(NO_MOUNT);
      const harmed = condition.harm(place);
      for (const [commands, fix] of condition.refused)
        for (const command of commands) await expectRefusal(place, command, harmed, fix);
      for (const command of condition.served) await expectService(place, command, harmed);
      if (harmed.undo === undefined) return expect(condition.served).toEqual([]);
      harmed.undo();
      await expectGoesOn(place);
    },
  );
});
