import type { Log } from '../log.ts';
import { withOwnReader } from '../store/connection.ts';
import { type FeedEntry, findStretch, readPage } from '../store/queries/feed.ts';
import type { Listener } from '../sync/events.ts';
import { visible } from '../terminal/style.ts';
import { describeFields } from './entry.ts';

/** The first poll adds every league there is. */
const MOST_SHOWN = 5;

/** Follows each poll with what it changed, a line each, read from the change feed as any other tool would. */
export function createFeedLog(path: string, log: Log): Listener {
  let seq = 0;
  return (event) => {
    if (event.type !== 'runEnded' || event.report.kind !== 'leagues' || !event.report.wrote) return;
    const { stretch, entries } = withOwnReader(path, (db) => {
      const found = findStretch(db, { afterSeq: seq });
      return { stretch: found, entries: readPage(db, found, { most: MOST_SHOWN, fields: true }) };
    });
    for (const entry of entries) log.info(describeBriefly(entry));
    const more = stretch.last - (entries.at(-1)?.seq ?? stretch.last);
    if (more > 0) log.info(`  … and ${more} more`);
    seq = stretch.last;
  };
}

function describeBriefly({ kind, league_name, fields }: FeedEntry): string {
  const what = describeFields(fields);
  return visible(`  ${kind}: ${league_name}${what && `, ${what}`}`);
}
