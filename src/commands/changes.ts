import { EXIT, UsageError } from '../errors.ts';
import { withReader } from '../store/connection.ts';
import {
  changeJson,
  type FeedEntry,
  type FeedRange,
  type FeedStart,
  findRange,
  readFeed,
} from '../store/queries/feed.ts';
import { followFeed } from '../store/queries/follow.ts';
import { paragraph } from '../terminal/paragraph.ts';
import type { Terminal } from '../terminal/style.ts';
import { systemClock } from '../time/clock.ts';
import { formatAge } from '../time/duration.ts';
import { type ChangeRow, describeEntry, formatChanges, nameBefore } from './change-text.ts';
import type { Command } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';
import { findLeagueId } from './find-league.ts';
import { WIDE_COLUMNS } from './status-text.ts';

/** The number of changes shown if neither `--since` nor `--limit` is given. */
const DEFAULT_LIMIT = 50;

type ChangesOptions = DatabaseOption & {
  readonly since?: FeedStart;
  readonly league?: string;
  readonly kind?: FeedEntry['kind'];
  readonly limit?: number;
  readonly json?: boolean;
  readonly ids?: boolean;
  readonly follow?: boolean;
};

export const changes: Command<ChangesOptions> = async (io, options) => {
  const { since, league, kind, limit, json = false, ids = false, follow = false, ...option } = options;
  if (follow && since !== undefined && limit !== undefined)
    throw new UsageError(
      'With --follow, use --since or --limit, not both: --limit is how many older changes come first.',
    );
  const path = await findDatabase(io, option);
  const start = since ?? { newest: limit ?? DEFAULT_LIMIT };
  const filter = { leagueId: league === undefined ? undefined : findLeagueId(path, league), kind };
  const range = withReader(path, (db) => findRange(db, start, filter));
  const show = async (page: readonly FeedEntry[]): Promise<void> => {
    if (page.length > 0) await io.print(formatPage(page, { json, ids, terminal: io.terminal }).join('\n'));
  };
  if (follow) {
    if ('afterSeq' in start && range.after > range.last) throw new UsageError(describeBeyond(range));
    for await (const page of followFeed(path, start, { filter, fields: !json, clock: systemClock, stop: io.stop }))
      await show(page);
    return EXIT.done;
  }
  let shown = 0;
  for (const page of readFeed(path, range, { limit: limit ?? Number.POSITIVE_INFINITY, fields: !json })) {
    await show(page);
    shown += page.length;
  }
  if (shown === 0 && !json)
    await io.print(await paragraph(range.after > range.last ? describeBeyond(range) : 'no changes', io.terminal));
  return EXIT.done;
};

type Format = { readonly json: boolean; readonly ids: boolean; readonly terminal: Terminal | undefined };

function formatPage(page: readonly FeedEntry[], { json, ids, terminal }: Format): readonly string[] {
  if (json) return page.map(changeJson);
  if (terminal === undefined) return page.map(describeEntry);
  const rows = page.map((entry) => toRow(entry, terminal.columns, ids));
  return formatChanges(rows, terminal);
}

function toRow(entry: FeedEntry, columns: number, ids: boolean): ChangeRow {
  const { seq, at, kind, league_id, fields } = entry;
  const age = formatAge(systemClock.now() - Date.parse(at));
  const lead = columns < WIDE_COLUMNS ? [String(seq), age] : [String(seq), at, age];
  const id = ids ? league_id : undefined;
  return { lead, mark: MARKS[kind], name: nameBefore(entry)?.trim() || league_id, id, fields };
}

const MARKS: Readonly<Record<FeedEntry['kind'], ChangeRow['mark']>> = {
  added: { text: '+', tone: 'good' },
  changed: { text: '~', tone: 'warning' },
  removed: { text: '−', tone: 'bad' },
  restored: { text: '↺', tone: 'good' },
};

/** A number beyond the end often means that a date was mistyped. */
function describeBeyond({ last }: FeedRange): string {
  return `no changes: the feed ends at ${last}; for a time write a date such as 2026-11-20`;
}
