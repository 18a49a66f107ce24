import { statSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { besides, loadDatabasePath } from '../config/paths.ts';
import { formatSize } from '../duration.ts';
import { EXIT, UsageError } from '../errors.ts';
import { withReader } from '../store/connection.ts';
import { isThere, nameCopy, refuseExisting, removeCopy, replaceCopy, writeCopy } from '../store/copy.ts';
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

export type CopyOptions = {
  readonly path: string;
  readonly target: string;
  /** Over an earlier copy, by way of this file; otherwise nothing may be at the target. */
  readonly part?: string;
  /** Over a published copy, also of a state that the database has not. */
  readonly published?: boolean;
};

/** The process that copies, for `backup` and for the worker. Not for people: they have `backup`. */
export const copy: Command<CopyOptions> = async (host, { path, target, part, published }) => {
  const parent = host.parent();
  const replaceable = published === true ? 'published' : 'earlier';
  withReader(path, (db) => {
    if (part === undefined) writeCopy(db, target);
    else replaceCopy(db, target, { part, replaceable });
  });
  // The process that wanted it has ended, and no other knows of it.
  if (part === undefined && host.parent() !== parent) removeCopy(target);
  return EXIT.done;
};
