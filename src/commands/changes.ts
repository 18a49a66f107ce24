import { systemClock } from '../clock.ts';
import { loadDatabasePath } from '../config/database.ts';
import { EXIT } from '../errors.ts';
import {
  type FeedEntry,
  type FeedStart,
  type FeedStretch,
  findByName,
  findStretch,
  isKnown,
  readFeed,
} from '../store/feed.ts';
import { visible } from '../visible.ts';
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
  const path = loadDatabasePath(host);
  const start = since ?? { newest: limit ?? NEWEST };
  const stretch = findStretch(path, start, league);
  const now = systemClock.now();
  const write =
    json === true ? entryJson : (entry: FeedEntry) => describeEntry(entry, { now, terminal: host.terminal });
  let shown = 0;
  for (const page of readFeed(path, stretch, { most: limit ?? Number.POSITIVE_INFINITY, fields: json !== true })) {
    if (page.length > 0) await host.print(page.map(write).join('\n'));
    shown += page.length;
  }
  if (shown === 0 && json !== true) await host.print(explainNothing(path, stretch));
  return EXIT.done;
};

/** Nothing is often the answer to a question that was meant otherwise. */
function explainNothing(path: string, { after, last, leagueId }: FeedStretch): string {
  if (after > last) return `no changes: the feed ends at ${last}; for a time write a date such as 2026-11-20`;
  if (leagueId === undefined || isKnown(path, leagueId)) return 'no changes';
  const named = findByName(path, leagueId);
  const hint = named.length === 0 ? '' : `; of that name there is ${named.join(', ')}`;
  return `no changes: there is no league with the league_id ${visible(leagueId)}${hint}`;
}

/** Built by hand, so that what the feed embeds is written as it is, with every digit. */
function entryJson({ seq, run_id, at, league_id, kind, before, after }: FeedEntry): string {
  const [id, what] = [JSON.stringify(league_id), JSON.stringify(kind)];
  return `{"seq":${seq},"run_id":${run_id},"at":"${at}","league_id":${id},"kind":${what},"before":${before},"after":${after}}`;
}
