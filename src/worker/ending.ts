import type { Log } from '../log.ts';
import type { Ending } from '../store/store.ts';

/** Writes the last line of a worker: what whoever stopped it may rely on. */
export function logEnding(log: Log, ending: Ending | undefined): void {
  const isWhole = ending === undefined || (ending.files !== 'not-ours' && !ending.isIncomplete);
  log[isWhole ? 'info' : 'warn'](describe(ending));
}

function describe(ending: Ending | undefined): string {
  if (ending === undefined) return 'stopped before the database was open';
  const { path, files, isIncomplete } = ending;
  if (files === 'not-ours')
    return `stopped; what is at ${path} now is not what this worker wrote, and was left as it is`;
  const beside = files === 'one-file' ? '' : '; another program has it open, so its log stays beside it';
  if (!isIncomplete) return `stopped; everything is saved in ${path}${beside}`;
  return `stopped; the leagues are saved in ${path}, but not what the last runs came to${beside}`;
}
