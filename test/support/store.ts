import { findPackage } from '../../src/package.ts';
import { withReader } from '../../src/store/connection.ts';
import { replaceCopy, tempPath } from '../../src/store/copy-database.ts';
import { openStore, type Store, type StoreOptions } from '../../src/store/store.ts';
import { systemClock } from '../../src/time/clock.ts';

/** Opens a store like the worker, except for the given options. Copies before an upgrade are made in this process. */
export function openTestStore(path: string, options: Partial<StoreOptions> = {}): Promise<Store> {
  return openStore(path, {
    migrations: findPackage().migrations,
    clock: systemClock,
    stop: new AbortController().signal,
    copyBeforeUpgrade: async ({ copy }) =>
      withReader(path, (db) =>
        replaceCopy(db, copy, { part: tempPath(copy), replaceable: 'earlier', isParentAlive: () => true }),
      ),
    onLongWait: () => undefined,
    lock: { renew: () => undefined },
    onClosed: () => undefined,
    ...options,
  });
}
