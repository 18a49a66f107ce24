import { copyFileSync, existsSync, lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { codeOf } from '../errors.ts';
import { explained, toDatabaseError } from './database-error.ts';
import { APPLICATION_ID, readHeader, requireOrdinary, sizeOf } from './database-file.ts';

/** No step of the schema has this number. The row says that a demo made the database, and no worker has used it since. */
const MARK_VERSION = 0;
const NO_SHA256 = '0'.repeat(64);
/** In the order in which they go: what is left by a kill in between is still known for what it was. */
const PARTS = ['-wal', '-shm', '-journal', ''] as const;

/** Marks a database as made by a demo, in the transaction that makes its schema. */
export function addDemoMark(db: Database.Database, at: string): void {
  db.prepare("INSERT INTO schema_migrations (version, name, sha256, applied_at) VALUES (?, 'demo', ?, ?)").run(
    MARK_VERSION,
    NO_SHA256,
    at,
  );
}

/** From here on the database is somebody's own, and no demo deletes it. */
export function removeDemoMark(db: Database.Database): void {
  db.prepare('DELETE FROM schema_migrations WHERE version = ?').run(MARK_VERSION);
}

/**
 * What is at the path in the place of a file or a folder, in words that go on "… is"; undefined where it is one, or
 * nothing is there. Looks at the name alone. Throws a DatabaseError.
 */
export function findOddity(path: string, wanted: 'file' | 'folder'): string | undefined {
  const found = explained(path, () => lstatSync(path, { throwIfNoEntry: false }));
  if (found === undefined || (wanted === 'file' ? found.isFile() : found.isDirectory())) return undefined;
  if (found.isSymbolicLink()) return 'a link';
  if (found.isFile()) return 'a file, not a folder';
  return found.isDirectory() ? 'a folder' : 'not a regular file';
}

/**
 * What is at the path that no demo made, in words that go on "… is"; undefined where there is nothing, an empty file, or
 * a demo's own database. To be called under the lock, before this process opens the database. Changes no byte of any
 * file there. Throws a DatabaseError.
 */
export function findOwnersFile(path: string): string | undefined {
  for (const part of PARTS) requireOrdinary(path + part);
  // A WAL holds the newest rows of a database, and SQLite deletes one that it finds beside a new database.
  const hasRows = sizeOf(`${path}-wal`) > 0 || (!existsSync(path) && sizeOf(`${path}-journal`) > 0);
  if (sizeOf(path) === 0) return hasRows ? LOST_WAL : undefined;
  const header = readHeader(path);
  if (header === undefined) return 'not an SQLite database';
  return header.applicationId === APPLICATION_ID
    ? judgeOwn(path, header.hasWalMark)
    : 'the database of another program';
}

/** Deletes the database of an earlier demo. To be called right after `findOwnersFile`, under the same lock. */
export function clearAway(path: string): void {
  explained(path, () => {
    for (const part of PARTS) rmSync(path + part, { force: true });
  });
}

const LOST_WAL = 'missing, but its WAL is there and may hold the only copy of some rows';

function judgeOwn(path: string, hasWalMark: boolean): string | undefined {
  const isSettled = !hasWalMark && sizeOf(`${path}-wal`) === 0 && sizeOf(`${path}-journal`) === 0;
  try {
    if (isSettled ? isDisposable(path, { readonly: true }) : onCopy(path, isDisposable)) return undefined;
    return 'a league-sync database without the mark of a demo: a worker has written to it, or an earlier version of the demo made it';
  } catch (error) {
    if (!codeOf(error).startsWith('SQLITE_')) throw toDatabaseError(error, path);
    return `a league-sync database that cannot be read (${codeOf(error)})`;
  }
}

/** Only SQLite can tell what a WAL says, and it would write while it reads: the -shm file at least. */
function onCopy(path: string, look: (copy: string) => boolean): boolean {
  const folder = inTemporary(() => mkdtempSync(join(tmpdir(), 'league-sync-demo-')));
  const copy = join(folder, 'leagues.db');
  const parts = PARTS.filter((part) => part !== '-shm' && existsSync(path + part));
  try {
    for (const part of parts) inTemporary(() => copyFileSync(path + part, copy + part));
    return look(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function inTemporary<T>(work: () => T): T {
  return explained(tmpdir(), work, 'copy');
}

/** Whether a demo made the database, or it holds nothing, since its first transaction was cut short. */
function isDisposable(path: string, options: Database.Options = {}): boolean {
  const db = new Database(path, { ...options, fileMustExist: true });
  try {
    if (db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined) return true;
    return db.prepare('SELECT 1 FROM schema_migrations WHERE version = ?').get(MARK_VERSION) !== undefined;
  } finally {
    db.close();
  }
}
