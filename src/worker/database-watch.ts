import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';

/**
 * Returns a function to call every second. It retries a failed write of a run's end, and logs when the database becomes
 * unwritable and when it is writable again. It does not log a locked database: the run that waits for the lock does.
 */
export function createDatabaseWatch({ path, recover, writeError }: Store, log: Log): () => void {
  let logged: string | undefined;
  return () => {
    recover();
    const found = writeError();
    const message = found?.busy === true ? undefined : found?.message;
    if (message === logged) return;
    logged = message;
    if (message !== undefined) log.warn({ database: path }, message);
    else log.info({ database: path }, `the database is back at ${path}; polls are stored again`);
  };
}
