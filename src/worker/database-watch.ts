import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';

/**
 * Returns a function to call every second. It writes what could not be written before, and logs when the database can
 * no longer be written and when it can be again. A locked database is logged by the runs that wait for it.
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
