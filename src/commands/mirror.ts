import { resolve } from 'node:path';
import { labelOf, loadMirror } from '../config/mirror.ts';
import { EXIT } from '../errors.ts';
import { fillMirror } from '../mirror/fill.ts';
import { rebuildMirror } from '../mirror/rebuild.ts';
import type { Progress } from '../mirror/transfer.ts';
import { formatDuration } from '../time/duration.ts';
import type { Command, ProcessIO } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';

/** Brings the mirror up to date once. */
export const mirror: Command<DatabaseOption> = (io, option) => write(io, option, fillMirror);

/** Rebuilds the mirror. */
export const rebuild: Command<DatabaseOption> = (io, option) => write(io, option, rebuildMirror);

async function write(io: ProcessIO, option: DatabaseOption, work: typeof fillMirror): Promise<number> {
  const source = loadMirror(io.settings(), io.environment);
  const path = resolve(await findDatabase(io, option));
  const begun = performance.now();
  const { seq } = await work(path, source, { stop: io.stop, onProgress: createProgress(io) });
  const took = formatDuration(performance.now() - begun);
  await io.print(`${labelOf(source())} mirrors ${path} up to change ${seq} (${took})`);
  return EXIT.done;
}

const SAY_EVERY_MS = 2_000;

/** Says on a terminal how far it is, now and then. */
function createProgress({ errorTerminal, printError }: ProcessIO): (progress: Progress) => void {
  let saidAt = performance.now();
  return ({ seq, lastSeq }) => {
    if (errorTerminal === undefined || performance.now() - saidAt < SAY_EVERY_MS) return;
    saidAt = performance.now();
    printError(`change ${seq} of ${lastSeq}`);
  };
}
