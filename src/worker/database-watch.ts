import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';

/** Looks after the database between the runs. */
export type DatabaseWatch = { readonly look: () => void };

/**
 * Writes what another program kept from being written, as soon as it can be, and says once when the files go and once
 * when they are back. That the database is locked is said by the runs that wait for it.
 */
export function createDatabaseWatch(
  { path, catchUp, fault }: Pick<Store, 'path' | 'catchUp' | 'fault'>,
  log: Log,
): DatabaseWatch {
  let told: string | undefined;
  return {
    look: () => {
      catchUp();
      const found = fault();
      const message = found?.busy === true ? undefined : found?.message;
      if (message === told) return;
      told = message;
      if (message !== undefined) log.warn({ database: path }, message);
      else log.info({ database: path }, `the database is back at ${path}; polls are stored again`);
    },
  };
}
