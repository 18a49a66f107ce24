import { statfsSync } from 'node:fs';

/** The bytes available to this user, and the free inodes. Throws the file system's error. */
export function freeSpace(folder: string): { readonly bytes: number; readonly files: number } {
  const { bavail, bsize, files, ffree } = statfsSync(folder);
  // Some file systems have no limit on inodes and report 0.
  return { bytes: bavail * bsize, files: files === 0 ? Number.POSITIVE_INFINITY : ffree };
}
