import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const TICKS_A_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** The resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kilobytes === undefined) throw new Error(`/proc does not tell the memory of process ${pid}`);
  return Number(kilobytes) * 1_024;
}

/** Processor time of a process since its start, its own and the kernel's for it. Counted in steps of 10 ms, mostly. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The program name, in parentheses, may contain spaces; the fields after it are counted from the third.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return (ticks / TICKS_A_SECOND) * 1_000;
}

// SQLite's WAL, read from outside (https://sqlite.org/fileformat2.html#the_write_ahead_log). The file keeps its size
// when the WAL restarts, so growth is counted in frames with the current salt.

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SALT_BYTES = 8;
const [PAGE_SIZE_AT, SALT_AT, FRAME_SALT_AT] = [8, 16, 8];

/** The position in the WAL. */
export type WalPosition = { readonly salt: string; readonly frames: number; readonly frameBytes: number };

export function walPosition(database: string): WalPosition {
  const fd = openSync(`${database}-wal`, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(fd, header, 0, HEADER_BYTES, 0);
    const salt = header.toString('hex', SALT_AT, SALT_AT + SALT_BYTES);
    const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(PAGE_SIZE_AT);
    let frames = 0;
    while (saltOfFrame(fd, HEADER_BYTES + frames * frameBytes) === salt) frames += 1;
    return { salt, frames, frameBytes };
  } finally {
    closeSync(fd);
  }
}

function saltOfFrame(fd: number, at: number): string | undefined {
  const salt = Buffer.alloc(SALT_BYTES);
  return readSync(fd, salt, 0, SALT_BYTES, at + FRAME_SALT_AT) === SALT_BYTES ? salt.toString('hex') : undefined;
}

/** Bytes written between two readings, between which the WAL restarted at most once, and was empty then. */
export function walGrowth(before: WalPosition, after: WalPosition): number {
  const begun = before.salt === after.salt ? before.frames : 0;
  return (after.frames - begun) * after.frameBytes;
}
