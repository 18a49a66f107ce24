import { systemClock } from '../../src/clock.ts';
import { findPackage } from '../../src/package.ts';
import { withReader } from '../../src/store/connection.ts';
import { partOf, replaceCopy } from '../../src/store/copy.ts';
import { openStore, type Store, type StoreOptions } from '../../src/store/store.ts';

/** A store as the worker opens it, but for what is said otherwise. It copies before an upgrade in this process. */
export function openTestStore(path: string, options: Partial<StoreOptions> = {}): Promise<Store> {
  return openStore(path, {
    migrations: findPackage().migrations,
    clock: systemClock,
    stop: new AbortController().signal,
    keepCopy: async ({ copy }) =>
      withReader(path, (db) => replaceCopy(db, copy, { part: partOf(copy), replaceable: 'earlier' })),
    onLongWait: () => undefined,
    lock: { renew: () => undefined },
    onClosed: () => undefined,
    ...options,
  });
}
