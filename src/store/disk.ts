import { statfsSync } from 'node:fs';
import { platform } from 'node:os';

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

/** The name of the network file system that a folder lies on; undefined where it is a local one, or nobody can tell. */
export function networkFileSystemOf(
  folder: string,
  typeOf = (path: string): number => statfsSync(path).type,
): string | undefined {
  // Other systems number them otherwise.
  if (platform() !== 'linux') return undefined;
  try {
    return NETWORKED.get(typeOf(folder) >>> 0);
  } catch {
    // Whatever is wrong with the folder is said by whoever needs it.
    return undefined;
  }
}

/** What is left on the disk of a folder for this user, in bytes and in files. */
export type Room = { readonly bytes: number; readonly files: number };

/** Throws what the file system says. */
export function roomIn(folder: string): Room {
  const { bavail, bsize, files, ffree } = statfsSync(folder);
  // Some file systems do not count files.
  return { bytes: bavail * bsize, files: files === 0 ? Number.POSITIVE_INFINITY : ffree };
}
