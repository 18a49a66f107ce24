import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tryOrUndefined } from '../../src/try-or-undefined.ts';
import { makeFolder } from './folder.ts';

const BLOCK = Buffer.alloc(4_096);

export function makeFifo(): string {
  const path = join(makeFolder().path, 'fifo');
  execFileSync('mkfifo', [path]);
  return path;
}

export function openUntilEnd(path: string, flags: number): number {
  const fd = openSync(path, flags);
  onTestFinished(() => closeSync(fd));
  return fd;
}

/** A file descriptor of a full FIFO: a write to it blocks, as nothing ever reads. */
export function openFullFifo(): number {
  const path = makeFifo();
  // Two descriptions of one FIFO: the program's own must not inherit that the other one does not block.
  const stuffed = openUntilEnd(path, constants.O_RDWR | constants.O_NONBLOCK);
  const full = openUntilEnd(path, constants.O_RDWR);
  // A full one throws EAGAIN.
  while (tryOrUndefined(() => writeSync(stuffed, BLOCK)) !== undefined);
  return full;
}
