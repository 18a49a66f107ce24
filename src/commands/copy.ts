import { EXIT } from '../errors.ts';
import { removeCopy, replaceCopy, writeCopy } from '../store/copy.ts';
import { readFrom } from '../store/open.ts';
import type { Command } from './host.ts';

export type CopyOptions = {
  readonly path: string;
  readonly target: string;
  /** Over an earlier copy, by way of this file; otherwise nothing may be at the target. */
  readonly part?: string;
};

/** The process that copies, for `backup` and for the worker. Not for people: they have `backup`. */
export const copy: Command<CopyOptions> = async (host, { path, target, part }) => {
  const parent = host.parent();
  readFrom(path, (db) => (part === undefined ? writeCopy(db, target) : replaceCopy(db, target, part)));
  // Whoever wanted it is no more, and nobody else knows of it.
  if (part === undefined && host.parent() !== parent) removeCopy(target);
  return EXIT.done;
};
