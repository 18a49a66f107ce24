import { labelOf, type MirrorTarget } from '../config/mirror.ts';
import { KilledError, RunError } from '../errors.ts';
import { type ChildEnd, type Program, RESTART, runChild } from '../outputs/child-process.ts';
import type { Inspection } from './schema.ts';
import type { OnProgress, Progress } from './transfer.ts';

/** `fill` brings it to the end of the file, `follow` compares recent runs only, `rebuild` rebuilds, `inspect` reads. */
export type MirrorJob = 'fill' | 'follow' | 'rebuild' | 'inspect';

type Results = { readonly [Job in MirrorJob]: Job extends 'inspect' ? Inspection : Progress };

/** What the child process gets on its stdin. */
export type MirrorInput = { readonly job: MirrorJob; readonly path: string; readonly target: MirrorTarget };

type Options = { readonly signal: AbortSignal; readonly onProgress?: OnProgress };

export type RunMirror = ReturnType<typeof createMirrorProcess>;

/** The child says every second that it is alive; a server can send bytes that make `pg` read for ever. */
const MAX_SILENCE_MS = 15_000;
const MAX_HEAP_MB = 256;

/**
 * Does everything that talks to PostgreSQL in a process of its own: anything that a server sends costs at most that process,
 * and while there is nothing to do, a mirror takes no memory. Rejects with a RunError, which is a RefusedError if a
 * person must do something first, a SettingsError, or the signal's reason.
 */
export function createMirrorProcess({ program: [executable = '', ...rest], environment }: Program) {
  const command = [executable, `--max-old-space-size=${MAX_HEAP_MB}`, ...rest, 'mirror-process'];
  return async <Job extends MirrorJob>(
    job: Job,
    { path, target }: Omit<MirrorInput, 'job'>,
    { signal, onProgress = () => undefined }: Options,
  ): Promise<Results[Job]> => {
    const input: MirrorInput = { job, path, target };
    const explain = ({ how, why, cause }: ChildEnd): RunError => {
      const mirror = `mirror at ${labelOf(target)}`;
      if (how === 'killed')
        return new KilledError('network', true, `The process that writes the ${mirror} was killed.`);
      // `pg` throws at bytes that it does not understand, in a listener.
      const what =
        how === 'crashed'
          ? `its answer is not one of PostgreSQL, or could not be read (${why})`
          : `the process that writes the mirror failed (${why})`;
      const fix = how === 'failed' ? RESTART : undefined;
      return new RunError('network', true, `The ${mirror} cannot be used: ${what}.`, { cause, fix });
    };
    const report = (progress: unknown): void => onProgress(progress as Progress);
    const options = { explain, environment, input, signal, maxSilenceMs: MAX_SILENCE_MS, onProgress: report };
    return (await runChild(command, options)) as Results[Job];
  };
}
