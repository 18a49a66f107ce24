import { resolve } from 'node:path';
import { describeMirror, labelOf, loadMirror } from '../config/mirror.ts';
import { EXIT, StoppedError, toRunError } from '../errors.ts';
import { createMirrorProcess, type MirrorInput } from '../mirror/process.ts';
import { rebuildMirror } from '../mirror/rebuild.ts';
import { inspectMirror } from '../mirror/schema.ts';
import { catchUp, type OnProgress } from '../mirror/transfer.ts';
import { recordMirror } from '../store/tables/outputs.ts';
import { formatTimestamp, systemClock } from '../time/clock.ts';
import { formatCount, formatDuration } from '../time/duration.ts';
import { answerParent } from './child.ts';
import type { Command, ProcessIO } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';
import { startProgress } from './progress.ts';

export const mirror: Command<DatabaseOption> = (io, option) => write(io, option, 'fill');
export const rebuild: Command<DatabaseOption> = (io, option) => write(io, option, 'rebuild');

async function write(io: ProcessIO, option: DatabaseOption, job: 'fill' | 'rebuild'): Promise<number> {
  const target = loadMirror(io.settings(), io.environment)();
  const path = resolve(findDatabase(io, option));
  const label = describeMirror(target);
  const begun = performance.now();
  const run = createMirrorProcess(io);
  const at = () => formatTimestamp(systemClock.now());
  using progress = startProgress(io, `connecting to ${labelOf(target)}`);
  let [first, reached]: (number | undefined)[] = [];
  const onProgress: OnProgress = ({ seq, lastSeq, sent = seq }) => {
    first ??= seq;
    reached = seq;
    progress.say(`change ${formatCount(sent)} of ${formatCount(lastSeq)}`);
  };
  try {
    const { seq, note } = await run(job, { path, target }, { signal: io.stop, onProgress });
    recordMirror(path, label, (rows) => rows.succeed('mirror', { seq, done_at: at(), last_error: note ?? null }));
    const took = formatDuration(performance.now() - begun);
    const news = job === 'rebuild' ? 'rebuilt' : seq === first ? 'nothing new' : `${seq - (first ?? 0)} new`;
    await io.say(`${labelOf(target)} mirrors ${path} up to change ${seq} (${news}, ${took})`);
    if (note !== undefined) io.warn({ message: note });
    return EXIT.done;
  } catch (error) {
    // A rebuild is one transaction.
    if (io.stop.aborted && job === 'fill' && reached !== first)
      throw new StoppedError(`the mirror was written up to change ${reached}`);
    if (!io.stop.aborted)
      recordMirror(path, label, (rows) => rows.fail('mirror', at(), { last_error: toRunError(error).message }));
    throw error;
  }
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
