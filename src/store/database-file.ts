import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { codeOf, DatabaseError } from '../errors.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { explainErrors } from './database-error.ts';

/** `LGSY` in ASCII; marks our databases in the SQLite header. */
export const APPLICATION_ID = 0x4c475359;

/** `device:inode`, which identifies a file by any of its paths; undefined if there is no file. */
export function inodeOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}

/** Creates the database's folder. Returns the real path, so that all paths to a database share one lock. */
export function prepareFolder(path: string): string {
  explainErrors(path, () => makeFolders(dirname(followLinks(resolve(path)))));
  const realPath = locateFile(path);
  isRegularFile(realPath);
  return realPath;
}

/** The real path of a file, which need not exist. Throws a DatabaseError. */
export function locateFile(path: string): string {
  return explainErrors(path, () => {
    const absolute = followLinks(resolve(path));
    const folder = dirname(absolute);
    return join(existsSync(folder) ? realpathSync(folder) : folder, basename(absolute));
  });
}

/** Resolves `path` if it is a symbolic link, even to a missing file. Follows at most 40 links, as Linux does. */
function followLinks(path: string, limit = 40): string {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path;
  if (limit === 0)
    throw new DatabaseError(`The path ${path} loops through symbolic links.`, { fix: 'name the file itself' });
  return followLinks(resolve(dirname(path), readlinkSync(path)), limit - 1);
}

/** Creates a folder and its parents. Recursive `mkdirSync` would hang in /proc, where mkdir fails with ENOENT. */
export function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  makeFolders(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** The size in bytes; 0 if there is no file. Throws a DatabaseError. */
export function sizeOf(path: string): number {
  return explainErrors(path, () => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
}

/** Throws a DatabaseError if `path` exists but is no regular file: opening a pipe blocks, a link leads elsewhere. */
export function assertRegularFile(path: string): void {
  if (explainErrors(path, () => lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true)) return;
  throw new DatabaseError(`${path} is not a regular file, but SQLite needs one there.`, { fix: 'remove it' });
}

/** Whether the file exists; follows links. Throws a DatabaseError if it is not a regular file. */
export function isRegularFile(path: string): boolean {
  const found = explainErrors(path, () => statSync(path, { throwIfNoEntry: false }));
  if (found === undefined || found.isFile()) return found !== undefined;
  const what = found.isDirectory() ? 'a folder' : 'not a regular file';
  const fix = 'name a file for the database';
  throw new DatabaseError(`${path} is ${what}.`, { fix });
}

/** Whether the file exists and is not empty. Throws a DatabaseError. */
export function holdsDatabase(path: string): boolean {
  return isRegularFile(path) && sizeOf(path) > 0;
}

/** Throws a DatabaseError if the file has a second name: lock and WAL lie beside each, and two would corrupt it. */
export function assertOneName(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true) return;
  const names = found.nlink;
  const file = quoteForShell(path);
  if (names > 1)
    throw new DatabaseError(
      `The file ${path} has ${names} names (hard links), and a worker on each would corrupt it.`,
      {
        fix: `stop all workers on it, then give this name a file of its own: cp -p ${file} ${file}.new && mv ${file}.new ${file}`,
      },
    );
  if (isMountPoint(path))
    throw new DatabaseError(`The file ${path} is mounted there alone, without its folder and its WAL.`, {
      fix: `mount its folder instead; a mount of the file alone is undone by: umount ${file}`,
    });
}

/** Whether the file alone is mounted at this path; known on Linux only. */
function isMountPoint(path: string): boolean {
  const mounts = tryOrUndefined(() => readFileSync('/proc/self/mountinfo', 'utf8')) ?? '';
  // The fifth field is the place, in which spaces and the like are written as three octal digits.
  const places = mounts.split('\n').map((line) => line.split(' ')[4] ?? '');
  const decode = (_: string, code: string): string => String.fromCharCode(Number.parseInt(code, 8));
  return places.some((place) => place.replaceAll(/\\(\d{3})/g, decode) === path);
}

export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
/** A WAL that is longer has frames, or had some (see `padEmptyWal`). */
const EMPTY_WAL_BYTES = 64;

/** The header of an SQLite database; undefined if there is none. NEVER call this for a database that is open. */
export function readHeader(path: string) {
  const header = isRegularFile(path) ? readStart(path, HEADER_BYTES) : Buffer.alloc(0);
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined;
  // The offsets are those in https://sqlite.org/fileformat.html#the_database_header.
  return { isWal: header[19] === 2, pages: header.readUInt32BE(28), applicationId: header.readUInt32BE(68) };
}

/**
 * The first bytes of a file; fewer if it is shorter. NEVER call this for a database that this process has open: closing
 * any descriptor of a file drops all POSIX locks of the process on that file, including SQLite's. Another program would
 * then take the WAL for abandoned and delete it, and all later writes of the worker would be lost.
 */
function readStart(path: string, length: number): Buffer {
  const start = Buffer.alloc(Math.min(sizeOf(path), length));
  if (start.length === 0) return start;
  return explainErrors(path, () => {
    const fd = openSync(path, 'r');
    try {
      readSync(fd, start);
      return start;
    } finally {
      closeSync(fd);
    }
  });
}

/** Throws a DatabaseError if the header or the WAL is another's. Call it before SQLite, which may apply or delete a WAL. */
export function assertHeaderOurs(path: string): void {
  if (sizeOf(`${path}-wal`) > EMPTY_WAL_BYTES) {
    if (sizeOf(path) === 0) throw orphanedWalError(path);
    // Looked at twice, as a worker may leave WAL mode, or enter it, at this moment.
    const isForeign = () => readHeader(path)?.isWal === false && sizeOf(`${path}-wal`) > EMPTY_WAL_BYTES;
    if (isForeign() && isForeign()) throw foreignWalError(path);
  }
  const { applicationId = APPLICATION_ID, pages = 0 } = readHeader(path) ?? {};
  if (applicationId === APPLICATION_ID || (applicationId === 0 && explainErrors(path, () => isOfLitestream(path))))
    return;
  if (applicationId === 0 && pages <= 1 && sizeOf(`${path}-wal`) === 0) return;
  throw applicationId === 0 && hasText(path, '`content_hash` TEXT') ? unmarkedError(path) : notOurDatabaseError(path);
}

/** Throws a DatabaseError if the open database is neither ours nor empty. */
export function assertOurs(db: Database.Database, path: string, mayLackTables = false): void {
  const id = db.pragma('application_id', { simple: true });
  const isOurs = id === APPLICATION_ID ? mayLackTables || hasOurTables(db) : id === 0 && countTables(db) === 0;
  if (!isOurs) throw notOurDatabaseError(path);
}

/** Whether the tables that tell one database from another are tables: a view in their place could run for ever. */
export function hasOurTables(db: Database.Database): boolean {
  const sql = `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0
    AND name IN ('league_changes', 'runs', 'schema_migrations')`;
  return db.prepare<[], number>(sql).pluck().get() === 3;
}

/** Counts tables, views and the like, except those of Litestream, which it makes in each file that it follows. */
function countTables(db: Database.Database): number {
  const sql = "SELECT count(*) FROM sqlite_schema WHERE tbl_name NOT LIKE '\\_litestream\\_%' ESCAPE '\\'";
  return db.prepare<[], number>(sql).pluck().get() ?? 0;
}

/** Enough to find the schema: its first tables are described at the start of a file. */
const SEARCHED_BYTES = 1_000_000;

/** Whether Litestream made the file: a new one, or ours while our application id is in the WAL alone. */
function isOfLitestream(path: string): boolean {
  if (![path, `${path}-wal`].some((file) => hasText(file, '_litestream_seq'))) return false;
  const db = new Database(path, { readonly: true });
  try {
    return db.pragma('application_id', { simple: true }) === APPLICATION_ID || countTables(db) === 0;
  } finally {
    db.close();
  }
}

function hasText(path: string, text: string): boolean {
  return readStart(path, SEARCHED_BYTES).includes(text);
}

/** SQLite would delete it. */
function orphanedWalError(path: string): DatabaseError {
  return new DatabaseError(`The database ${path} is gone, but its WAL ${path}-wal is there and may hold changes.`, {
    fix: 'put the database back beside it, or, to begin anew, move the WAL away',
  });
}

/** SQLite would apply it. A file has a WAL only in WAL mode, in which no backup or published copy is. */
function foreignWalError(path: string): DatabaseError {
  const wal = quoteForShell(`${path}-wal`);
  return new DatabaseError(`The WAL ${path}-wal is of another file than ${path}, such as the one before a restore.`, {
    fix: `stop the worker if one runs; then put back the database that it belongs to, or, if this one was restored, move it away: mv -n ${wal} ${quoteForShell(`${path}.old-wal`)}`,
  });
}

function unmarkedError(path: string): DatabaseError {
  const file = quoteForShell(path);
  const sql = `SELECT 'PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=' || max(version) || ';' FROM schema_migrations`;
  return new DatabaseError(
    `The file ${path} is a league-sync database without the marks in its header, which .dump and .clone of sqlite3 leave out.`,
    { fix: `set them: sqlite3 ${file} "${sql}" | sqlite3 ${file}` },
  );
}

function notOurDatabaseError(path: string): DatabaseError {
  return new DatabaseError(`The file ${path} is the database of another application and is left as it is.`, {
    fix: 'name another file',
  });
}
