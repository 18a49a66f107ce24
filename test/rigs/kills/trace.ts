import { readFileSync, statSync } from 'node:fs';

// What a kill interrupted, according to the WAL, its index and the list of locks in the kernel.

/** The state of the process when it was killed. */
export type Trace = {
  /** It held the write lock of SQLite, which lasts from the start of a transaction to its end. */
  readonly inTransaction: boolean;
  /** The WAL has frames of an uncommitted transaction. */
  readonly inCommit: boolean;
  /** The WAL has a header and no frames. */
  readonly inHeader: boolean;
  /** A checkpoint was in progress. */
  readonly inCheckpoint: boolean;
};

/** Lock bytes of the WAL index: for writers, and for checkpoints. */
const WRITER = 120;
const CHECKPOINTER = 121;
/** Fields of the WAL index: the frames that were checkpointed, and the frames to checkpoint. */
const MOVED = 96;
const BEGUN = 128;
/** Offset in the WAL header. */
const PAGE_SIZE = 8;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Examines the files, and the locks of the process if it is alive. */
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

/** Whether the WAL has a header; an empty or just initialized one has none. */
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

/** Whether frames with the current salts have no commit frame after them. */
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

/** The offsets of all locks of the process on the file. Empty without /proc/locks. */
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
