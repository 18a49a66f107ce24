import { EXIT } from '../errors.ts';
import { writeCopy } from '../store/copy.ts';
import { readFrom } from '../store/open.ts';
import type { Command } from './host.ts';

/** The process that copies, for `backup` and for the worker. Not for people: they have `backup`. */
export const copy: Command<{ readonly path: string; readonly target: string }> = async (_host, { path, target }) => {
  readFrom(path, (db) => writeCopy(db, target));
  return EXIT.done;
};
