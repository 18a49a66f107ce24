import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { platform } from 'node:os';
import { dirname, resolve } from 'node:path';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { explainErrors } from './database-error.ts';

/** Network file systems by their magic number on Linux. FUSE is included, since it is often remote. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
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

/** Says that a database in this folder would lie on a network; undefined if the file system is local or unknown. */
export function networkProblem(path: string, folder: string) {
  if (platform() !== 'linux') return undefined;
  // Opening the database will report any problem with the folder.
  const network = tryOrUndefined(() => NETWORK_FILE_SYSTEMS.get(statfsSync(folder).type >>> 0));
  if (network === undefined) return undefined;
  const message = `${path} lies on a network file system (${network}), where SQLite is not reliable`;
  const fix = 'put it on a local disk, and use LEAGUE_SYNC_PUBLISH to copy it for other machines';
  return { network, message, fix } as const;
}

/** The nearest existing folder above a file. Throws a DatabaseError if this user may not write to it or to `path`. */
export function findWritableFolder(path: string, what: 'database' | 'copy' = 'database'): string {
  const find = (): string => {
    let folder = dirname(resolve(path));
    while (!existsSync(folder)) folder = dirname(folder);
    // The dot makes this throw if `folder` is a file.
    accessSync(`${folder}/.`, constants.W_OK | constants.X_OK);
    if (what === 'database' && existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
    return folder;
  };
  return explainErrors(path, find, what);
}
