import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { platform } from 'node:os';
import { dirname, resolve } from 'node:path';
import { explained } from './database-error.ts';

/** File systems that reach over a network, or may, by the number by which Linux calls each. */
const NETWORKED: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x47504653, 'GPFS'],
  [0x7461636f, 'OCFS2'],
  [0x65735546, 'FUSE'],
]);

/** The network file system that a folder lies on; undefined if it is a local one, or if that cannot be told. */
export function networkFileSystemOf(
  folder: string,
  typeOf = (path: string): number => statfsSync(path).type,
): string | undefined {
  // Other systems number them otherwise.
  if (platform() !== 'linux') return undefined;
  try {
    return NETWORKED.get(typeOf(folder) >>> 0);
  } catch {
    // What is wrong with the folder is said when it is used.
    return undefined;
  }
}

/** What this user has left on the disk of a folder, in bytes and in files. Throws what the file system says. */
export function roomIn(folder: string): { readonly bytes: number; readonly files: number } {
  const { bavail, bsize, files, ffree } = statfsSync(folder);
  // Some file systems do not count files.
  return { bytes: bavail * bsize, files: files === 0 ? Number.POSITIVE_INFINITY : ffree };
}

/**
 * The folder that a file lies in, or the nearest one above it if that has still to be made. Throws a DatabaseError
 * if this user could not write the file or make it there.
 */
export function findWritableFolder(path: string, what: 'database' | 'copy' = 'database'): string {
  return explained(
    path,
    () => {
      let folder = dirname(resolve(path));
      while (!existsSync(folder)) folder = dirname(folder);
      // With the dot, so that a file in the place of a folder is told from one.
      accessSync(`${folder}/.`, constants.W_OK | constants.X_OK);
      if (what === 'database' && existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
      return folder;
    },
    what,
  );
}
