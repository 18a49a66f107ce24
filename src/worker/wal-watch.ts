import { basename } from 'node:path';
import type { Listener } from '../events.ts';
import type { Log } from '../log.ts';
import { sizeOf } from '../store/database-file.ts';
import type { Store } from '../store/store.ts';
import { formatSize } from '../time/duration.ts';

/** Far above 4 MB, at which SQLite restarts the WAL unless another program keeps a read transaction open. */
const LARGE_WAL_BYTES = 64_000_000;

/** Warns if a large WAL keeps growing from run to run, and again each time it has doubled. */
export function createWalWatch({ path }: Pick<Store, 'path'>, log: Log): Listener {
  const wal = `${path}-wal`;
  let before = 0;
  let warnedAt = 0;
  return ({ type }) => {
    if (type !== 'runEnded') return;
    const bytes = sizeOf(wal);
    if (bytes < LARGE_WAL_BYTES) warnedAt = 0;
    // A poll that changes very many leagues makes the WAL large, too, but the next poll does not make it larger.
    else if (before >= LARGE_WAL_BYTES && bytes > before && bytes >= 2 * warnedAt) {
      warnedAt = bytes;
      log.warn(
        { wal_bytes: bytes },
        `the write-ahead log ${basename(wal)} has grown to ${formatSize(bytes)}: another program keeps a read transaction open; it shrinks once that ends`,
      );
    }
    before = bytes;
  };
}
