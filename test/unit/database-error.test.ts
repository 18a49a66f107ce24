import { expect, it } from 'vitest';
import { DatabaseError, LockedError } from '../../src/errors.ts';
import { explainErrors } from '../../src/store/database-error.ts';
import { thrownBy } from '../support/unit-error.ts';

const withCode = (code: string) => Object.assign(new Error('the words of SQLite'), { code });
const explain = (error: Error) =>
  thrownBy(() =>
    explainErrors('/nowhere/leagues.db', () => {
      throw error;
    }),
  );

it.each([
  ['SQLITE_BUSY_SNAPSHOT', 'is in use by another program (SQLITE_BUSY_SNAPSHOT); wait for that program, or end it.'],
  ['SQLITE_FULL', 'cannot grow: the disk is full (SQLITE_FULL); free some space.'],
  ['ENOSPC', 'cannot grow: the disk is full (ENOSPC); free some space.'],
  ['EBUSY', 'cannot be replaced: the file itself is a mount (EBUSY); mount its folder instead of the file.'],
  ['EROFS', 'is on a read-only file system (EROFS); remount it read-write, or choose a path on another one.'],
  ['EMFILE', 'cannot be opened: too many files are open (EMFILE); raise the limit (ulimit -n), or'],
  ['EPERM', 'cannot be written (EPERM); give'],
  ['ENOTDIR', 'cannot be opened (ENOTDIR); check its path, and the permissions of the file and its folder.'],
  ['SQLITE_CANTOPEN', 'cannot be opened (SQLITE_CANTOPEN, ENOENT); check its path, and'],
  ['SQLITE_NOTADB', 'is not an SQLite database (SQLITE_NOTADB); name another file, or restore this one from a backup.'],
  [
    'SQLITE_CORRUPT_VTAB',
    'is damaged (SQLITE_CORRUPT_VTAB); set it aside and restore a backup, or rescue what is left',
  ],
  ['SQLITE_IOERR_READ', 'could not be read or written (I/O error) (SQLITE_IOERR_READ); check the disk.'],
  [
    'SQLITE_CONSTRAINT_CHECK',
    'failed (SQLITE_CONSTRAINT_CHECK: the words of SQLite); if another program added a trigger',
  ],
])('%s is explained, with what to do', (code, words) => {
  const error = explain(withCode(code));
  expect(error).toBeInstanceOf(DatabaseError);
  expect(String(error)).toContain(`The database /nowhere/leagues.db ${words}`);
  expect(error).toMatchObject({ busy: code.startsWith('SQLITE_BUSY') });
});

it('that another worker holds the lock is said in the words of the lock', () => {
  const error = explain(new LockedError('Another worker holds it.'));
  expect(error).toBeInstanceOf(DatabaseError);
  expect(String(error)).toContain('Another worker holds it.');
});
