import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { execute, readRows } from '../../support/database.ts';
import { failing, type Injection } from '../syscalls/syscall.ts';
import type { AppliedFault, DiskPlace } from './setup.ts';
import { fillDisk, remount } from './small-disk.ts';

/** Causes a fault of a disk or a file, and returns how to undo it. */
export type DiskFault = (place: DiskPlace) => AppliedFault;

/** The unprivileged user `nobody` of Debian. */
export const AS_NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];
const PAGE_BYTES = 4_096;

export const fill: DiskFault = ({ disk }) => {
  const filler = fillDisk(disk, 0);
  return { undo: () => rmSync(filler) };
};

export const makeReadOnly: DiskFault = ({ disk }) => {
  remount({ disk }, 'ro');
  return { undo: () => remount({ disk }, 'rw') };
};

/** Runs the program as a user with these permissions on the folder and the file. */
export function leaveRights(folder: number, file: number): DiskFault {
  return ({ disk, database }) => {
    chmodSync(disk, folder);
    chmodSync(database, file);
    return {
      through: AS_NOBODY,
      undo: () => {
        chmodSync(disk, 0o777);
        chmodSync(database, 0o666);
      },
    };
  };
}

export const remove: DiskFault = ({ database }) => keepAside(database, () => rmSync(database));

export const empty: DiskFault = ({ database }) => keepAside(database, () => truncateSync(database, 0));

/** Below the folder of a user who may not write there. */
export const nameFolderOfOthers: DiskFault = ({ disk }) => {
  chmodSync(disk, 0o755);
  return { database: join(disk, 'new', 'leagues.db'), through: AS_NOBODY };
};

export const namePathThroughFile: DiskFault = ({ database }) => ({ database: join(database, 'leagues.db') });

/** Overwrites a range of bytes with garbage. */
export function damage(from: number, to = Number.POSITIVE_INFINITY): DiskFault {
  return ({ database }) =>
    keepAside(database, () => {
      const bytes = readFileSync(database);
      writeFileSync(database, bytes.fill(0xa5, from, Math.min(to, bytes.length)));
    });
}

/** Overwrites the pages of one table and its indexes with garbage. */
export function damageTable(table: string): DiskFault {
  return ({ database }) =>
    keepAside(database, () => {
      const roots = readRows(
        database,
        `SELECT rootpage FROM sqlite_schema WHERE tbl_name = '${table}' AND rootpage > 0`,
      );
      const bytes = readFileSync(database);
      for (const page of roots.map(({ rootpage }) => Number(rootpage)))
        bytes.fill(0xa5, (page - 1) * PAGE_BYTES, page * PAGE_BYTES);
      writeFileSync(database, bytes);
    });
}

export const cutShort: DiskFault = ({ database }) => keepAside(database, () => truncateSync(database, 2 * PAGE_BYTES));

export const writeText: DiskFault = ({ database }) =>
  keepAside(database, () => writeFileSync(database, 'Dear diary, this is no database.\n'.repeat(100)));

export const putFolder: DiskFault = ({ database }) =>
  keepAside(database, () => {
    rmSync(database);
    mkdirSync(database);
  });

export const putPipe: DiskFault = ({ database }) =>
  keepAside(database, () => {
    rmSync(database);
    execFileSync('mkfifo', [database]);
  });

export const putCircle: DiskFault = ({ database }) =>
  keepAside(database, () => {
    rmSync(database);
    symlinkSync(database, database);
  });

/** Changes the schema so that this version does not know it. */
export function alter(sql: string): DiskFault {
  return ({ database }) => keepAside(database, () => execute(database, sql));
}

export const replaceByOther: DiskFault = ({ database }) =>
  keepAside(database, () => {
    rmSync(database);
    execute(database, 'CREATE TABLE letters (letter TEXT)');
  });

export const damageLock: DiskFault = ({ database }) => {
  writeFileSync(`${database}.lock`, 'x'.repeat(2 * PAGE_BYTES));
  return { undo: () => rmSync(`${database}.lock`) };
};

/** Makes every call of this kind fail, on the database and the files beside it. */
export function failAlways(call: Injection['call'], error: Injection['error']): DiskFault {
  return ({ database }) => ({
    through: failing(database, { call, error, nth: 1, upTo: 'for ever' }),
    undo: () => undefined,
  });
}

export const both =
  (first: DiskFault, second: DiskFault): DiskFault =>
  (place) => {
    const one = first(place);
    const two = second(place);
    return {
      ...one,
      ...two,
      undo: () => {
        two.undo?.();
        one.undo?.();
      },
    };
  };

function keepAside(database: string, work: () => void): AppliedFault {
  const kept = join(database, '..', '..', 'kept.db');
  copyFileSync(database, kept);
  work();
  return {
    undo: () => {
      rmSync(database, { recursive: true, force: true });
      execFileSync('cp', ['-p', kept, database]);
    },
  };
}
