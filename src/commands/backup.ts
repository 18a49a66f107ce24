import { statSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { besides, loadDatabasePath } from '../config/paths.ts';
import { formatSize } from '../duration.ts';
import { EXIT, UsageError } from '../errors.ts';
import { isThere, nameCopy, refuseExisting } from '../store/copy.ts';
import { createCopy } from '../worker/copier.ts';
import type { Command } from './host.ts';

/** A consistent copy of the database, safe while the worker runs. Never takes the place of anything. */
export const backup: Command<{ readonly file: string }> = async (host, { file }) => {
  if (file === '' || file.endsWith(sep)) throw new UsageError('Write the path of a file that the copy is to be.');
  const path = loadDatabasePath(host);
  const target = resolve(file);
  refuseExisting(target);
  if (besides(resolve(path)).includes(target))
    throw new UsageError(`${target} is a name that the database needs for a file beside it; name another one.`);
  if (!isThere(dirname(target)))
    throw new UsageError(`There is no folder ${dirname(target)} for the copy; make it first.`);

  const part = `${target}.${host.pid}.part`;
  await createCopy(host)(resolve(path), part, { signal: host.stop });
  nameCopy(part, target);
  await host.print(`${path} was copied to ${target} (${formatSize(statSync(target).size)})`);
  return EXIT.done;
};
