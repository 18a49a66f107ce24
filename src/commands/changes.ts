import { EXIT } from '../errors.ts';
import { withReader } from '../store/connection.ts';
import {
  changeJson,
  type FeedEntry,
  type FeedRange,
  type FeedStart,
  findRange,
  readFeed,
} from '../store/queries/feed.ts';
import { findLeagueIds } from '../store/queries/leagues.ts';
import { escapeControls } from '../terminal/style.ts';
import { systemClock } from '../time/clock.ts';
import { formatAge } from '../time/duration.ts';
import { type ChangeRow, describeEntry, formatChanges } from './change-text.ts';
import type { Command } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';
import { WIDE_COLUMNS } from './status-text.ts';

/** The number of changes shown if neither `--since` nor `--limit` is given. */
const DEFAULT_LIMIT = 50;

type ChangesOptions = DatabaseOption & {
  readonly since?: FeedStart;
  readonly league?: string;
  readonly limit?: number;
  readonly json?: boolean;
  readonly ids?: boolean;
};

export const changes: Command<ChangesOptions> = async (
  io,
  { since, league, limit, json = false, ids = false, ...option },
) => {
  const path = await findDatabase(io, option);
  const start = since ?? { newest: limit ?? DEFAULT_LIMIT };
  const range = withReader(path, (db) => findRange(db, start, league));
  const { terminal } = io;
  const format = (page: readonly FeedEntry[]): readonly string[] => {
    if (json) return page.map(changeJson);
    if (terminal === undefined) return page.map(describeEntry);
    const rows = page.map((entry) => toRow(entry, terminal.columns, ids));
    return formatChanges(rows, terminal);
  };
  let shown = 0;
  for (const page of readFeed(path, range, { limit: limit ?? Number.POSITIVE_INFINITY, fields: !json })) {
    if (page.length > 0) await io.print(format(page).join('\n'));
    shown += page.length;
  }
  if (shown === 0 && !json) await io.print(explainNoChanges(path, range));
  return EXIT.done;
};

function toRow({ seq, at, kind, league_id, league_name, fields }: FeedEntry, columns: number, ids: boolean): ChangeRow {
  const age = formatAge(systemClock.now() - Date.parse(at));
  const lead = columns < WIDE_COLUMNS ? [String(seq), age] : [String(seq), at, age];
  const id = ids ? league_id : undefined;
  return { lead, mark: MARKS[kind], name: league_name?.trim() || league_id, id, fields };
}

const MARKS: Readonly<Record<FeedEntry['kind'], ChangeRow['mark']>> = {
  added: { text: '+', tone: 'good' },
  changed: { text: '~', tone: 'warning' },
  removed: { text: '−', tone: 'bad' },
  restored: { text: '↺', tone: 'good' },
};

/** An empty result often means that an option was mistyped. */
function explainNoChanges(path: string, { after, last, leagueId }: FeedRange): string {
  if (after > last) return `no changes: the feed ends at ${last}; for a time write a date such as 2026-11-20`;
  if (leagueId === undefined) return 'no changes';
  const named = findLeagueIds(path, leagueId);
  if (named[0] === leagueId) return 'no changes';
  const hint = named.length === 0 ? '' : `; with that name there is ${named.join(', ')}`;
  return `no changes: there is no league with the league_id ${escapeControls(leagueId)}${hint}`;
}
