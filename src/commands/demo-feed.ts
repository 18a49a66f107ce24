import { existsSync } from 'node:fs';
import { systemClock } from '../clock.ts';
import { RunError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type FeedEntry, readFeed } from '../store/feed.ts';
import { visible } from '../table.ts';

const LOOK_MS = 500;
const MOST_SHOWN = 8;

/** Follows the change feed as any other tool would, from outside, and logs what it finds until the signal aborts. */
export async function showChanges(path: string, log: Log, signal: AbortSignal): Promise<void> {
  let seq = 0;
  while (!signal.aborted) {
    await systemClock.sleep(LOOK_MS, signal).catch(() => undefined);
    if (existsSync(path)) seq = showSince(path, seq, log);
  }
}

function showSince(path: string, seq: number, log: Log): number {
  try {
    const { entries, total, last } = readFeed(path, seq, MOST_SHOWN);
    for (const entry of entries) log.info(describeEntry(entry));
    if (total > entries.length) log.info(`  … and ${total - entries.length} more`);
    return last;
  } catch (error) {
    // The worker may just be making the database; the next look finds it.
    if (error instanceof RunError || (error instanceof Error && 'code' in error)) return seq;
    throw error;
  }
}

function describeEntry({ kind, leagueName, fields }: FeedEntry): string {
  const changes = fields
    .filter(({ field }) => field !== 'last_update_datetime')
    .map(({ field, old, now }) => `, ${field} ${visible(String(old))} -> ${visible(String(now))}`);
  return `  ${kind}: ${visible(leagueName)}${changes.join('')}`;
}
