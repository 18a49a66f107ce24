import { closeSync, openSync, readSync } from 'node:fs';

// SQLite's write-ahead log, read from outside (https://sqlite.org/fileformat2.html#the_write_ahead_log). Its file keeps
// its size when the log begins anew, so what was added is counted in frames that bear the log's salt.

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SALT_BYTES = 8;
const [PAGE_SIZE_AT, SALT_AT, FRAME_SALT_AT] = [8, 16, 8];

/** How far the log has come. */
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

/** Bytes written between two looks, between which the log began anew once at most, and was empty then. */
export function walGrowth(before: WalPosition, after: WalPosition): number {
  const begun = before.salt === after.salt ? before.frames : 0;
  return (after.frames - begun) * after.frameBytes;
}
