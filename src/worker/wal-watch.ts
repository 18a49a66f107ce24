import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { formatSize } from '../duration.ts';
import type { Log } from '../log.ts';

/** Watches the write-ahead log, which grows for as long as a reader holds an old state open. */
export type WalWatch = { readonly look: () => void };

/** SQLite begins it anew after a few MB, unless somebody still reads in it. */
const NOTABLE_BYTES = 64_000_000;

/**
 * Warns when it goes on growing where it is large already, and again each time that it has doubled since; says when
 * it is small again. One poll of very many leagues makes it large, too, but not larger at the next.
 */
export function createWalWatch(databasePath: string, log: Log): WalWatch {
  const wal = `${databasePath}-wal`;
  const name = basename(wal);
  let told = 0;
  let before = 0;
  return {
    look: () => {
      const bytes = sizeOf(wal);
      if (bytes < NOTABLE_BYTES) {
        if (told > 0)
          log.info({ wal_bytes: bytes }, `the write-ahead log ${name} is small again (${formatSize(bytes)})`);
        told = 0;
      } else if (before >= NOTABLE_BYTES && bytes > before && bytes >= 2 * told) {
        told = bytes;
        log.warn(
          { wal_bytes: bytes },
          `the write-ahead log ${name} has grown to ${formatSize(bytes)}: another program keeps a read transaction open; it shrinks once that ends`,
        );
      }
      before = bytes;
    },
  };
}

/** Whatever is wrong there is said by whoever writes. */
function sizeOf(file: string): number {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0;
  }
}
