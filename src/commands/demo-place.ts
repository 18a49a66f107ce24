import { dirname } from 'node:path';
import { DatabaseError } from '../errors.ts';
import { isThere } from '../store/copy.ts';
import { clearAway, findOddity, findOwnersFile } from '../store/demo-mark.ts';

/** Throws a DatabaseError where no folder, or no file, is in its place. Makes nothing. */
export function refuseOddPlace(path: string): void {
  refuse(dirname(path), findOddity(dirname(path), 'folder'));
  refuse(path, findOddity(path, 'file'));
}

/**
 * Deletes the database of an earlier demo, and says whether there was one. Throws a DatabaseError where anything else
 * is there, and leaves it as it is. To be called under the lock.
 */
export function makeRoom(path: string): boolean {
  refuseOddPlace(path);
  refuse(path, findOwnersFile(path));
  const hadOne = isThere(path);
  clearAway(path);
  return hadOne;
}

function refuse(path: string, what: string | undefined): void {
  if (what === undefined) return;
  const files = ['', '-wal', '-shm', '-journal'].map((suffix) => path + suffix).filter(isThere);
  throw new DatabaseError(`${path} is ${what}. A demo deletes only what a demo made, so it is left as it is.`, {
    fix: `delete or move ${files.join(', ')}, or start the demo in another folder`,
  });
}
