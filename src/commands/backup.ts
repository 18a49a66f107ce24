import { statSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { sidecarFiles } from '../config/paths.ts';
import { EXIT, UsageError } from '../errors.ts';
import { createCopyProcess } from '../outputs/publish-copy.ts';
import {
  assertAbsent,
  exists,
  publishNoReplace,
  type Replaceable,
  removeCopy,
  removeStaleTempFiles,
  replaceCopy,
  tempPath,
  writeCopy,
} from '../store/atomic-copy.ts';
import { withReader } from '../store/connection.ts';
import { sizeOf } from '../store/database-file.ts';
import { formatSize } from '../time/duration.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { answerParent } from './child.ts';
import type { Command } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';
import { startProgress } from './progress.ts';

export const backup: Command<DatabaseOption & { readonly file: string }> = async (io, { file, ...option }) => {
  if (file === '' || file.endsWith(sep)) throw new UsageError('The target must be the path of a file.');
  const path = findDatabase(io, option);
  const target = resolve(file);
  assertAbsent(target);
  if (sidecarFiles(resolve(path)).includes(target))
    throw new UsageError(`${target} is a file name that the database itself needs; choose another one.`);
  if (!exists(dirname(target))) throw new UsageError(`The folder ${dirname(target)} does not exist; create it first.`);

  tryOrUndefined(() => removeStaleTempFiles(target));
  const part = tempPath(target);
  // What the WAL holds may be new pages, or newer versions of old ones.
  const whole = formatSize(sizeOf(path) + sizeOf(`${path}-wal`));
  const copied = (): string => formatSize(tryOrUndefined(() => statSync(part).size) ?? 0);
  using _ = startProgress(io, () => `copying ${copied()} of ${whole}`);
  await createCopyProcess(io)(resolve(path), part, { name: target, signal: io.stop });
  publishNoReplace(part, target);
  await io.say(`${path} was copied to ${target} (${formatSize(statSync(target).size)})`);
  return EXIT.done;
};

type CopyOptions = {
  readonly path: string;
  readonly target: string;
  /** The path of the new copy until it is renamed to `target`. If `part` is undefined, `target` must not exist. */
  readonly part?: string;
  readonly replace: Replaceable;
  /** The parent's process id. Passed as an option, since the parent may end before `process.ppid` is read. */
  readonly parent: number;
};

/** The hidden command that `createCopyProcess` runs in a child process. */
export const copy: Command<CopyOptions> = (io, { path, target, part, replace, parent }) =>
  answerParent(io, async () => {
    // Not by the end of stdin, which this process would notice only after the copy.
    const isParentAlive = (): boolean => io.parent() === parent;
    withReader(path, (db) => {
      if (part === undefined) writeCopy(db, target);
      else replaceCopy(db, target, { part, replaceable: replace, isParentAlive });
    });
    // If the parent has ended, nothing else would remove this copy.
    if (part === undefined && !isParentAlive()) removeCopy(target);
  });
