import { chmodSync, copyFileSync, existsSync, fstatSync, readlinkSync, rmSync, truncateSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { tryOrUndefined } from '../try-or-undefined.ts';

/** Writes the WAL to a file that was moved. Returns where that file is now; undefined if the WAL stays. */
export function writeBack(db: Database.Database, fd: number): string | undefined {
  if (tryOrUndefined(() => db.pragma('wal_checkpoint(TRUNCATE)', { simple: true })) !== 0) return undefined;
  return placeOf(fd);
}

/** Where an open file is that was moved. */
export function placeOf(fd: number): string {
  return tryOrUndefined(() => readlinkSync(`/proc/self/fd/${fd}`)) ?? 'that file, under its new name';
}

/** Copies a file without a name; undefined if that failed. Empties the WAL, which a new file would get. */
export function copyRemoved(db: Database.Database, fd: number): string | undefined {
  const copy = freeName(`${db.name}.saved`);
  const isMade = tryOrUndefined(() => {
    db.prepare('VACUUM INTO ?').run(copy);
    chmodSync(copy, fstatSync(fd).mode & 0o777);
    return true;
  });
  if (isMade) tryOrUndefined(() => db.pragma('wal_checkpoint(TRUNCATE)'));
  else rmSync(copy, { force: true });
  return isMade === true ? copy : undefined;
}

/** Closes a database whose WAL does not fit its file. Returns where the WAL is kept; undefined if nowhere. */
export function closeSettingWalAside(db: Database.Database): string | undefined {
  const [wal, kept] = [`${db.name}-wal`, freeName(`${db.name}.saved-wal`)];
  const isKept = tryOrUndefined(() => {
    copyFileSync(wal, kept);
    return true;
  });
  if (isKept === undefined) return undefined;
  // The last checkpoint cannot read a WAL that is cut off, and writes nothing.
  truncateSync(wal);
  tryOrUndefined(() => db.close());
  for (const suffix of ['-wal', '-shm']) rmSync(db.name + suffix, { force: true });
  return kept;
}

function freeName(path: string): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? path : `${path}-${number}`;
    if (!existsSync(name)) return name;
  }
}
