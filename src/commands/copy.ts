import { EXIT } from '../errors.ts';
import { replaceCopy, writeCopy } from '../store/copy.ts';
import { readFrom } from '../store/open.ts';
import type { Command } from './host.ts';

export type CopyOptions = {
  readonly path: string;
  readonly target: string;
  /** Over an earlier copy; otherwise nothing may be there. */
  readonly replace?: boolean;
};

/** The process that copies, for `backup` and for the worker. Not for people: they have `backup`. */
export const copy: Command<CopyOptions> = async (_host, { path, target, replace }) => {
  readFrom(path, (db) => (replace === true ? replaceCopy(db, target) : writeCopy(db, target)));
  return EXIT.done;
};
