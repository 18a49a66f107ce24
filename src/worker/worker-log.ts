import { basename } from 'node:path';
import type { Log } from '../log.ts';
import type { Ending } from '../store/store.ts';

/** Says that an earlier worker left runs without an end: it was killed, crashed, or lost its power. */
export function logInterrupted(log: Log, runs: number): void {
  if (runs === 0) return;
  log.warn({ runs }, `marked ${runs} unfinished run${runs === 1 ? '' : 's'} of an earlier worker as interrupted`);
}

/** Says that it will be silent for a while, and why. The line of the run says when that is over. */
export function logFirstLoad(log: Log, received: number): void {
  log.info(
    { kind: 'leagues', received },
    `leagues: first load of ${received} leagues; this may take some seconds, and probes wait meanwhile`,
  );
}

/** Writes the last line of a worker: what whoever stopped it may rely on. */
export function logEnding(log: Log, ending: Ending | undefined): void {
  const isWhole = ending === undefined || (ending.files !== 'not-ours' && !ending.isIncomplete);
  log[isWhole ? 'info' : 'warn'](describe(ending));
}

function describe(ending: Ending | undefined): string {
  if (ending === undefined) return 'stopped before the database was open';
  const { path, files, isIncomplete } = ending;
  if (files === 'not-ours')
    return `stopped; ${path} was deleted or replaced while the worker ran, and was left as it is`;
  const wal = `${basename(path)}-wal is left beside it`;
  // What kept the last rows from being written, such as a full disk, keeps the WAL as well.
  if (isIncomplete)
    return `stopped; the leagues are saved in ${path}, but the last rows of runs or logins could not be written${files === 'one-file' ? '' : `; ${wal}`}`;
  return `stopped; all data saved in ${path}${files === 'one-file' ? '' : `; another program has it open, so ${wal}`}`;
}
