import { loadDatabasePath } from '../config/database.ts';
import { EXIT } from '../errors.ts';
import { type FeedEntry, type FeedStart, findStretch, readFeed } from '../store/feed.ts';
import { describeEntry } from './entry.ts';
import type { Command } from './host.ts';

/** Shown where nothing says from where. */
const NEWEST = 50;

export type ChangesOptions = {
  readonly since?: FeedStart;
  readonly league?: string;
  readonly limit?: number;
  readonly json?: boolean;
};

/** The change feed, newest last: all of it after `since`, or its end. */
export const changes: Command<ChangesOptions> = async (host, { since, league, limit, json }) => {
  const path = loadDatabasePath(host.settings());
  const start = since ?? { newest: limit ?? NEWEST };
  const stretch = findStretch(path, start, league);
  const write = json === true ? entryJson : describeEntry;
  let shown = 0;
  for (const page of readFeed(path, stretch, limit ?? Number.POSITIVE_INFINITY)) {
    if (page.length > 0) await host.print(page.map(write).join('\n'));
    shown += page.length;
  }
  if (shown === 0 && json !== true) await host.print('no changes');
  return EXIT.done;
};

/** Built by hand, so that what the feed embeds is written as it is, with every digit. */
function entryJson({ seq, run_id, at, league_id, kind, before, after }: FeedEntry): string {
  const [id, what] = [JSON.stringify(league_id), JSON.stringify(kind)];
  return `{"seq":${seq},"run_id":${run_id},"at":"${at}","league_id":${id},"kind":${what},"before":${before},"after":${after}}`;
}
