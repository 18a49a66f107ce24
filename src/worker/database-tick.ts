import { toRunError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';

/** Each second: writes what is pending, logs when the database becomes (un)writable, and takes requests of `poll`. */
export function createDatabaseTick(
  store: Store,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  onPollRequest: () => void,
): () => void {
  const { path } = store;
  let logged: string | undefined;
  let names = 1;
  let isTaking = false;

  const watchNames = (): void => {
    const before = names;
    names = store.countNames();
    if (names > Math.max(1, before))
      log.warn({ database: path }, `${path} has ${names} names now (hard links): never start a worker on another one`);
  };
  const takeRequests = (): void => {
    if (isTaking || !store.read(store.pollRequests.arePending)) return;
    isTaking = true;
    store
      .write(() => store.pollRequests.take(clock.now()))
      .then((isAsked) => isAsked && onPollRequest())
      .catch((error: unknown) => log.debug({ err: toRunError(error) }, 'a request to poll could not be taken'))
      .finally(() => {
        isTaking = false;
      });
  };
  return () => {
    store.recover();
    watchNames();
    const found = store.writeError();
    const message = found?.busy === true ? undefined : found?.message;
    if (message !== logged && message !== undefined) log.warn({ database: path }, message);
    else if (message !== logged)
      log.info({ database: path }, `the database is back at ${path}; polls are stored again`);
    logged = message;
    // A database that cannot be read has been logged above.
    tryOrUndefined(takeRequests);
  };
}
