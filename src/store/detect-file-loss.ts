import { closeSync, fstatSync, openSync, readSync, rmSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { DatabaseError } from '../errors.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { toDatabaseError } from './database-error.ts';
import { inodeOf } from './database-file.ts';
import { closeSettingWalAside, copyRemoved, placeOf, writeBack } from './rescue.ts';
import { closeForReaders, closeKeepingReadable, leaveWalMode } from './wal.ts';

/** What became of an open file: it has another name (`moved`), none (`removed`), or content of another program. */
type Fate = 'same' | 'moved' | 'removed' | 'overwritten';

export type FileGuard = ReturnType<typeof createFileGuard>;

export type ClosedFiles = {
  /**
   * `wal-left`: a WAL stays, since another program uses the database. `wal-kept`: it stays, since `keepWal` is set.
   * `saved`: the file was deleted, moved or replaced, and all that it held is in `place`. `set-aside`: the file at the
   * path is another or has other content; the WAL, kept as `place`, holds what was not written to the right one yet.
   */
  readonly files: 'one-file' | 'wal-left' | 'wal-kept' | 'saved' | 'set-aside';
  readonly place?: string | undefined;
};

/**
 * Detects whether a file of the open database was moved, deleted, replaced or overwritten, since later writes would be
 * lost. What then is only in the WAL, or in a file without a name, is saved at once: the next moment may be a `kill -9`.
 */
export function createFileGuard(client: Database.Database) {
  const path = client.name;
  // Closed after the database, since that drops the locks of this process on the file.
  const fd = openSync(path, 'r');
  const opened = new Map(['', '-wal', '-shm'].map((suffix) => [suffix, inodeOf(path + suffix)]));
  const isSame = (suffix: string): boolean => inodeOf(path + suffix) === opened.get(suffix);
  let known = readContent(fd);
  let loss: DatabaseError | undefined;
  /** Where all is that a moved or removed file held; undefined if it could not be saved. */
  let savedIn: string | undefined;
  let lastFate: Fate = 'same';

  const findFate = (): Fate => {
    const { isWal, counter } = readContent(fd);
    // The header of an overwritten file can look right again after a checkpoint of another program. First, since what
    // was overwritten may be moved away after that, and must not get the WAL.
    if (!isWal || counter < known.counter || loss?.condition === OVERWRITTEN) return 'overwritten';
    known = { ...known, counter };
    if (isSame('')) return 'same';
    return fstatSync(fd).nlink === 0 ? 'removed' : 'moved';
  };
  const findLoss = (isLast: boolean): DatabaseError | undefined => {
    const fate = findFate();
    const isNew = fate !== lastFate;
    lastFate = fate;
    if (fate === 'same') {
      loss = savedIn = undefined;
      // If -shm was deleted, new connections create another, and share neither locks nor the WAL index with ours.
      const lost = ['-wal', '-shm'].find((suffix) => !isSame(suffix));
      return lost === undefined ? undefined : goneError(`WAL ${path}${lost}`, 'has lost its WAL', FIX_LOST_WAL);
    }
    // Another program that reads can keep the WAL from being written back; a copy that failed is tried again at the end.
    // It may be moved again, or removed after that.
    if (fate === 'overwritten') savedIn = undefined;
    if (fate === 'moved') savedIn = savedIn === undefined ? writeBack(client, fd) : placeOf(fd);
    if (fate === 'removed' && isNew) savedIn = copyRemoved(client, fd);
    if (fate === 'removed' && isLast) savedIn ??= copyRemoved(client, fd);
    loss = fate === 'overwritten' ? overwrittenError(path) : removedError(path, savedIn);
    return loss;
  };
  /** `isLast`: before the database is closed. */
  const findError = (isLast = false): DatabaseError | undefined => {
    try {
      return findLoss(isLast);
    } catch (error) {
      return toDatabaseError(error, path);
    }
  };
  /** Whether what another process may have written to the file since `noteWrite` fits the WAL. */
  const fitsWal = (): boolean =>
    readContent(fd).stamp === known.stamp ||
    tryOrUndefined(() => client.pragma('quick_check(1)', { simple: true })) === 'ok';
  /** If our WAL stayed beside another database file, SQLite would apply the WAL to that file and corrupt it. */
  const closeLost = (): ClosedFiles => {
    const isOurWal = tryOrUndefined(() => isSame('-wal'));
    if (isOurWal && savedIn === undefined) return { files: 'set-aside', place: closeSettingWalAside(client) };
    // Closing would write a WAL that was moved away into the file. The process ends anyway.
    if (lastFate === 'overwritten') return { files: 'saved', place: undefined };
    if (isOurWal) {
      leaveWalMode(client);
      for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    }
    client.close();
    return { files: 'saved', place: savedIn };
  };
  return {
    findError,
    /** Call this after each write of this process, which may have changed the file. */
    noteWrite: (): void => {
      known = readContent(fd);
    },
    countNames: (): number => fstatSync(fd).nlink,
    /** Closes the database. With `keepWal`, its WAL stays. */
    close: async (keepWal: boolean): Promise<ClosedFiles> => {
      findError(true);
      try {
        if (loss !== undefined || !(keepWal || fitsWal())) return closeLost();
        if (!keepWal) return { files: (await closeForReaders(client)) ? 'one-file' : 'wal-left' };
        closeKeepingReadable(client);
        return { files: 'wal-kept' };
      } finally {
        closeSync(fd);
      }
    },
  };
}

const CONTENT_BYTES = 28;

/** The offsets are those in https://sqlite.org/fileformat.html#the_database_header. */
function readContent(fd: number) {
  const header = Buffer.alloc(CONTENT_BYTES);
  readSync(fd, header, 0, CONTENT_BYTES, 0);
  const { size, mtimeNs } = fstatSync(fd, { bigint: true });
  return { isWal: header[18] === 2 && header[19] === 2, counter: header.readUInt32BE(24), stamp: `${size}:${mtimeNs}` };
}

const FIX_REMOVED =
  'put that same file back (or mount its disk again), or restart the worker, which uses the file that is there then';
const FIX_LOST_WAL = 'restart the worker, which saves all it has written when it stops';
const OVERWRITTEN = 'was overwritten';

function removedError(path: string, savedIn: string | undefined): DatabaseError {
  const saved = savedIn === undefined ? 'what it held could not be saved' : `all that it held is in ${savedIn}`;
  return goneError(`database ${path}`, 'is gone', `${saved}; ${FIX_REMOVED}`);
}

function overwrittenError(path: string): DatabaseError {
  const message = `Another program has overwritten the database ${path} while the worker ran; nothing new is written.`;
  const fix = 'stop the worker before you restore a backup; stop it now, put the right file there, and start it again';
  return new DatabaseError(message, { fix, gone: true, condition: OVERWRITTEN });
}

function goneError(file: string, condition: string, fix: string): DatabaseError {
  const message = `The ${file} was deleted, moved or replaced while the worker ran; nothing new is written.`;
  return new DatabaseError(message, { fix, gone: true, condition });
}
