import { resolve } from 'node:path';
import { describeMirror, labelOf, loadMirror } from '../config/mirror.ts';
import { EXIT, toRunError } from '../errors.ts';
import { inspectMirror } from '../mirror/inspect.ts';
import { createMirrorProcess, type MirrorInput } from '../mirror/process.ts';
import { rebuildMirror } from '../mirror/rebuild.ts';
import { catchUp, type OnProgress } from '../mirror/transfer.ts';
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
    const { seq, note } = await run(job, { path, target }, { signal: io.stop, onProgress: createProgress(io) });
    recordMirror(path, label, (rows) => rows.succeed('mirror', { seq, done_at: at(), last_error: note ?? null }));
    const took = formatDuration(performance.now() - begun);
    await io.print(`${labelOf(target)} mirrors ${path} up to change ${seq} (${took})`);
    if (note !== undefined) await io.warn({ message: note });
    return EXIT.done;
  } catch (error) {
    if (!io.stop.aborted)
      recordMirror(path, label, (rows) => rows.fail('mirror', at(), { last_error: toRunError(error).message }));
    throw error;
  }
}

const SAY_EVERY_MS = 2_000;

/** Shows progress at a terminal. */
function createProgress({ errorTerminal, printError }: ProcessIO): OnProgress {
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
    const onProgress: OnProgress = (progress) => void say({ progress });
    if (job === 'rebuild') return rebuildMirror(path, target, onProgress);
    return catchUp(path, target, { onProgress, runs: job === 'follow' ? 'recent' : 'all' });
  });
