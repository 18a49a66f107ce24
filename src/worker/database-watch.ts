import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { formatSize } from '../duration.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';

/** Looks after the database files between the runs. */
export type DatabaseWatch = {
  /** For every second: writes what another program kept from being written, and logs if the files go or come back. */
  readonly look: () => void;
  /** For after each run: warns if the WAL is large and keeps growing. */
  readonly lookAtWal: () => void;
};

/** SQLite begins the WAL anew after a few MB, unless another program keeps a read transaction open. */
const LARGE_WAL_BYTES = 64_000_000;

/** That the database is locked is logged by the runs that wait for it. */
export function createDatabaseWatch(
  { path, catchUp, fault }: Pick<Store, 'path' | 'catchUp' | 'fault'>,
  log: Log,
): DatabaseWatch {
  let told: string | undefined;
  let warnedAt = 0;
  let before = 0;
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
    lookAtWal: () => {
      const wal = `${path}-wal`;
      const bytes = sizeOf(wal);
      if (bytes < LARGE_WAL_BYTES) warnedAt = 0;
      // One poll of very many leagues makes it large, too, but not larger at the next.
      else if (before >= LARGE_WAL_BYTES && bytes > before && bytes >= 2 * warnedAt) {
        warnedAt = bytes;
        log.warn(
          { wal_bytes: bytes },
          `the write-ahead log ${basename(wal)} has grown to ${formatSize(bytes)}: another program keeps a read transaction open; it shrinks once that ends`,
        );
      }
      before = bytes;
    },
  };
}

/** A file that cannot be looked at is reported by whoever writes to it. */
function sizeOf(file: string): number {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0;
  }
}
