import { EXIT } from '../errors.ts';
import { withReader } from '../store/connection.ts';
import { removeCopy, replaceCopy, writeCopy } from '../store/copy.ts';
import type { Command } from './host.ts';

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
  // Whoever wanted it is no more, and nobody else knows of it.
  if (part === undefined && host.parent() !== parent) removeCopy(target);
  return EXIT.done;
};
