import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';

/**
 * The returned function must be called every second. It retries a failed write of a run's end, and logs when the
 * database becomes unwritable or writable again. A database that is locked is logged by `onLongWait` (resources.ts) instead.
 */
export function createDatabaseWatch({ path, recover, writeError, countNames }: Store, log: Log): () => void {
  let logged: string | undefined;
  let names = 1;
  return () => {
    recover();
    const before = names;
    names = countNames();
    if (names > Math.max(1, before))
      log.warn({ database: path }, `${path} has ${names} names now (hard links): never start a worker on another one`);
    const found = writeError();
    const message = found?.busy === true ? undefined : found?.message;
    if (message === logged) return;
    logged = message;
    if (message !== undefined) log.warn({ database: path }, message);
    else log.info({ database: path }, `the database is back at ${path}; polls are stored again`);
  };
}
