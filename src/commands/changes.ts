import { systemClock } from '../clock.ts';
import { loadDatabasePath } from '../config/paths.ts';
import { formatAge } from '../duration.ts';
import { EXIT } from '../errors.ts';
import { withReader } from '../store/connection.ts';
import { type FeedEntry, type FeedStart, type FeedStretch, findStretch, readFeed } from '../store/queries/feed.ts';
import { findByName, isKnown } from '../store/queries/leagues.ts';
import { visible } from '../terminal/style.ts';
import { type ChangeRow, describeEntry, formatChanges } from './change-line.ts';
import type { Command } from './host.ts';
import { WIDE_COLUMNS } from './status-text.ts';

/** Shown where nothing says from where. */
const NEWEST = 50;

export type ChangesOptions = {
  readonly since?: FeedStart;
  readonly league?: string;
  readonly limit?: number;
  readonly json?: boolean;
  /** Shows the ids at a terminal, too. */
  readonly ids?: boolean;
};

/** The change feed, newest last: all of it after `since`, or its end. */
export const changes: Command<ChangesOptions> = async (host, { since, league, limit, json, ids }) => {
  const path = loadDatabasePath(host);
  const start = since ?? { newest: limit ?? NEWEST };
  const stretch = withReader(path, (db) => findStretch(db, start, league));
  const { terminal } = host;
  const now = systemClock.now();
  const write = (page: readonly FeedEntry[]): readonly string[] => {
    if (json === true) return page.map(entryJson);
    if (terminal === undefined) return page.map(describeEntry);
    const rows = page.map((entry) => rowOf(entry, { now, columns: terminal.columns, ids: ids === true }));
    return formatChanges(rows, terminal);
  };
  let shown = 0;
  for (const page of readFeed(path, stretch, { most: limit ?? Number.POSITIVE_INFINITY, fields: json !== true })) {
    if (page.length > 0) await host.print(write(page).join('\n'));
    shown += page.length;
  }
  if (shown === 0 && json !== true) await host.print(explainNothing(path, stretch));
  return EXIT.done;
};

type RowOptions = { readonly now: number; readonly columns: number; readonly ids: boolean };

function rowOf({ seq, at, kind, league_id, league_name, fields }: FeedEntry, options: RowOptions): ChangeRow {
  const age = formatAge(options.now - Date.parse(at));
  const lead = options.columns < WIDE_COLUMNS ? [String(seq), age] : [String(seq), at, age];
  const name = league_name?.trim() || league_id;
  return { lead, mark: MARKS[kind], name, id: options.ids ? league_id : undefined, fields };
}

/** The sign of each kind at a terminal, which has no room for its word. */
const MARKS: Readonly<Record<FeedEntry['kind'], ChangeRow['mark']>> = {
  added: { text: '+', tone: 'good' },
  changed: { text: '~', tone: 'warning' },
  removed: { text: '−', tone: 'bad' },
  restored: { text: '↺', tone: 'good' },
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
