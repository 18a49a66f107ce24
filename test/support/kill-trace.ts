import { readFileSync, statSync } from 'node:fs';

// Where a kill has hit, as far as the log of SQLite, its index and the kernel's list of locks can tell.

/** What the process was doing at its last moment. */
export type Trace = {
  /** It held SQLite's write lock, which is held from the beginning of a transaction to its end. */
  readonly inTransaction: boolean;
  /** Pages of a transaction that has not ended are in the log. */
  readonly inCommit: boolean;
  /** The log has been begun, and not a page is in it. */
  readonly inHeader: boolean;
  /** Pages were on their way from the log into the database. */
  readonly inCheckpoint: boolean;
};

/** Lock bytes of the index: of the writer, and of who moves pages into the database. */
const WRITER = 120;
const CHECKPOINTER = 121;
/** Fields of the index: how many pages were moved, and how many had been begun with. */
const MOVED = 96;
const BEGUN = 128;
/** In the header of the log. */
const PAGE_SIZE = 8;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** What lies there now, and the locks that a process holds if it still lives. */
export function traceOf(database: string, pid?: number): Trace {
  const locks = pid === undefined ? new Set<number>() : locksOn(`${database}-shm`, pid);
  const log = readOrNothing(`${database}-wal`);
  return {
    inTransaction: locks.has(WRITER),
    inHeader: hasHeaderOnly(log),
    inCommit: hasUnfinished(log),
    inCheckpoint: locks.has(CHECKPOINTER) || isMoving(readOrNothing(`${database}-shm`)),
  };
}

function hasHeaderOnly(log: Buffer): boolean {
  return hasHeader(log) && log.length < LOG_HEADER_BYTES + FRAME_HEADER_BYTES + log.readUInt32BE(PAGE_SIZE);
}

/** An empty log, or one that was only laid out, has none. */
function hasHeader(log: Buffer): boolean {
  return log.length >= LOG_HEADER_BYTES && log.readUInt32BE(PAGE_SIZE) > 0;
}

function readOrNothing(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

/** Frames of this round of the log (they carry its salts) that no frame with the mark of a commit follows. */
function hasUnfinished(log: Buffer): boolean {
  if (!hasHeader(log)) return false;
  const salts = log.subarray(16, 24);
  const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(PAGE_SIZE);
  let unfinished = false;
  for (let at = LOG_HEADER_BYTES; at + FRAME_HEADER_BYTES <= log.length; at += frameBytes) {
    if (!log.subarray(at + 8, at + 16).equals(salts)) break;
    unfinished = log.readUInt32BE(at + 4) === 0;
  }
  return unfinished;
}

function isMoving(index: Buffer): boolean {
  return index.length >= BEGUN + 4 && index.readUInt32LE(BEGUN) > index.readUInt32LE(MOVED);
}

/** The first bytes of all locks that the process has on the file. None where the system has no list of them. */
function locksOn(file: string, pid: number): ReadonlySet<number> {
  const inode = statSync(file, { throwIfNoEntry: false })?.ino;
  const lines = readOrNothing('/proc/locks').toString().split('\n');
  const parts = lines.map((line) => line.trim().split(/\s+/));
  const own = parts.filter(
    ([, , , mode, owner, place = '']) =>
      mode === 'WRITE' && Number(owner) === pid && Number(place.split(':')[2]) === inode,
  );
  return new Set(own.flatMap(([, , , , , , from, to]) => writingLocks(Number(from), Number(to))));
}

function writingLocks(from: number, to: number): readonly number[] {
  return [WRITER, CHECKPOINTER].filter((byte) => from <= byte && byte <= to);
}
