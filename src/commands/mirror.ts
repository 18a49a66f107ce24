import { resolve } from 'node:path';
import { describeMirror, labelOf, loadMirror } from '../config/mirror.ts';
import { EXIT, toRunError } from '../errors.ts';
import type { Progress } from '../mirror/batch.ts';
import { catchUp } from '../mirror/catch-up.ts';
import { inspectMirror } from '../mirror/inspect.ts';
import { createMirrorProcess, describeLeftOut, type MirrorInput } from '../mirror/process.ts';
import { rebuildMirror } from '../mirror/rebuild.ts';
import { recordMirror } from '../store/tables/outputs.ts';
import { formatTimestamp, systemClock } from '../time/clock.ts';
import { formatDuration } from '../time/duration.ts';
import { answerParent } from './child.ts';
import type { Command, ProcessIO } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';

export const mirror: Command<DatabaseOption> = (io, option) => write(io, option, 'fill');
export const rebuild: Command<DatabaseOption> = (io, option) => write(io, option, 'rebuild');

async function write(io: ProcessIO, option: DatabaseOption, job: 'fill' | 'rebuild'): Promise<number> {
  const target = loadMirror(io.settings(), io.environment)();
  const path = resolve(await findDatabase(io, option));
  const label = describeMirror(target);
  const begun = performance.now();
  const run = createMirrorProcess(io);
  const at = () => formatTimestamp(systemClock.now());
  try {
    const filled = await run(job, { path, target }, { signal: io.stop, onProgress: createProgress(io) });
    const { seq } = filled;
    const last_error = describeLeftOut(filled);
    recordMirror(path, label, (rows) => rows.succeed('mirror', { seq, done_at: at(), last_error: last_error ?? null }));
    const took = formatDuration(performance.now() - begun);
    await io.print(`${labelOf(target)} mirrors ${path} up to change ${seq} (${took})`);
    if (last_error !== undefined) await io.warn({ message: last_error });
    return EXIT.done;
  } catch (error) {
    if (!io.stop.aborted)
      recordMirror(path, label, (rows) => rows.fail('mirror', at(), { last_error: toRunError(error).message }));
    throw error;
  }
}

const SAY_EVERY_MS = 2_000;

/** Shows progress at a terminal. */
function createProgress({ errorTerminal, printError }: ProcessIO): (progress: Progress) => void {
  let saidAt = performance.now();
  return ({ seq, lastSeq }) => {
    if (errorTerminal === undefined || performance.now() - saidAt < SAY_EVERY_MS) return;
    saidAt = performance.now();
    printError(`change ${seq} of ${lastSeq}`);
  };
}

/** The hidden command that `createMirrorProcess` runs in a child process. */
export const mirrorProcess: Command<object> = (io) =>
  answerParent(io, async (say) => {
    const { job, path, target }: MirrorInput = JSON.parse(await io.readInput());
    if (job === 'inspect') return inspectMirror(path, target);
    const onProgress = (progress: Progress): void => void say({ progress });
    if (job === 'rebuild') return rebuildMirror(path, target, onProgress);
    return catchUp(path, target, { onProgress, runs: job === 'follow' ? 'recent' : 'all' });
  });
