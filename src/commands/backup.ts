import { linkSync, lstatSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { loadDatabasePath } from '../config/database.ts';
import { formatSize } from '../duration.ts';
import { codeOf, EXIT, UsageError } from '../errors.ts';
import { toDatabaseError } from '../store/fault.ts';
import { createCopy } from '../worker/copier.ts';
import type { Command } from './host.ts';

/** A consistent copy of the database, safe while the worker runs. Never takes the place of anything. */
export const backup: Command<{ readonly file: string }> = async (host, { file }) => {
  if (file === '' || file.endsWith(sep)) throw new UsageError('Write the path of a file that the copy is to be.');
  const path = loadDatabasePath(host);
  const target = resolve(file);
  refuseExisting(target);
  if (statSync(dirname(target), { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`There is no folder ${dirname(target)} for the copy; make it first.`);

  const part = `${target}.${host.pid}.part`;
  await createCopy(host)(resolve(path), part, host.stop);
  try {
    giveName(part, target);
  } catch (error) {
    throw error instanceof UsageError ? error : toDatabaseError(error, target);
  } finally {
    rmSync(part, { force: true });
  }
  await host.print(`${path} was copied to ${target} (${formatSize(statSync(target).size)})`);
  return EXIT.done;
};

function refuseExisting(target: string): void {
  if (lstatSync(target, { throwIfNoEntry: false }) === undefined) return;
  throw new UsageError(`There is something at ${target} already; name a path where nothing is.`);
}

/** A new link, unlike a renaming, fails where something has come into being there meanwhile. */
function giveName(part: string, target: string): void {
  try {
    linkSync(part, target);
  } catch (error) {
    refuseExisting(target);
    if (!NO_LINKS.test(codeOf(error))) throw error;
    renameSync(part, target);
  }
}

/** What file systems say that know one name a file only. */
const NO_LINKS = /^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS|EMLINK)$/;
