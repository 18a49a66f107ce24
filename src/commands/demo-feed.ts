import { existsSync } from 'node:fs';
import { systemClock } from '../clock.ts';
import { RunError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type FeedEntry, findStretch, readFeed } from '../store/feed.ts';
import { visible } from '../visible.ts';
import { describeFields } from './entry.ts';

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
    const stretch = findStretch(path, { afterSeq: seq });
    const [entries = []] = readFeed(path, stretch, { most: MOST_SHOWN, fields: true });
    for (const entry of entries) log.info(describeBriefly(entry));
    const more = stretch.last - (entries.at(-1)?.seq ?? stretch.last);
    if (more > 0) log.info(`  … and ${more} more`);
    return stretch.last;
  } catch (error) {
    // The worker may just be making the database; the next look finds it.
    if (error instanceof RunError || (error instanceof Error && 'code' in error)) return seq;
    throw error;
  }
}

function describeBriefly({ kind, league_name, fields }: FeedEntry): string {
  const what = describeFields(fields);
  return visible(`  ${kind}: ${league_name}${what && `, ${what}`}`);
}
