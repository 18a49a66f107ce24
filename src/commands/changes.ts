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
import { followFeed } from '../store/queries/follow-feed.ts';
import { escapeAtTerminal, type Terminal } from '../terminal/style.ts';
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
  let day = '';
  const format = (page: readonly FeedEntry[]): readonly string[] => {
    if (json) return page.map((entry) => escapeAtTerminal(changeJson(entry), io.terminal));
    if (io.terminal === undefined) return page.map(describeEntry);
    return follow ? formatFollowed(page, day, ids, io.terminal) : formatPage(page, ids, io.terminal);
  };
  const show = async (page: readonly FeedEntry[]): Promise<void> => {
    if (page.length > 0) await io.print(format(page).join('\n'));
    day = dayOf(page.at(-1)) ?? day;
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
  if (shown === 0 && !json) await io.say(range.after > range.last ? describeBeyond(range) : 'no changes');
  return EXIT.done;
};

function formatPage(page: readonly FeedEntry[], ids: boolean, terminal: Terminal): readonly string[] {
  const age = (at: string) => formatAge(systemClock.now() - Date.parse(at));
  const when = (at: string) => (terminal.columns < WIDE_COLUMNS ? [age(at)] : [at, age(at)]);
  const rows = page.map((entry) => toRow(entry, when(entry.at), ids));
  return formatChanges(rows, terminal);
}

/** With the time of each change, since an age would be wrong a moment later, and columns that stay where they are. */
function formatFollowed(page: readonly FeedEntry[], lastDay: string, ids: boolean, terminal: Terminal) {
  return [...Map.groupBy(page, dayOf)].flatMap(([day, entries]) => {
    const rows = entries.map((entry) => toRow(entry, [entry.at.slice(11, 19)], ids));
    const lines = formatChanges(rows, terminal, { name: 24, field: 18 });
    return day === lastDay ? lines : [terminal.paint('faint', `${day} (UTC)`), ...lines];
  });
}

function dayOf(entry: FeedEntry | undefined): string | undefined {
  return entry?.at.slice(0, 10);
}

function toRow(entry: FeedEntry, when: readonly string[], ids: boolean): ChangeRow {
  const { seq, kind, league_id, fields } = entry;
  const lead = [String(seq), ...when];
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
