import { didYouMean } from '../config/read-environment.ts';
import { EXIT, UsageError } from '../errors.ts';
import { describeEntry, nameBefore } from '../store/change-words.ts';
import { withReader } from '../store/connection.ts';
import { changedFields } from '../store/queries/changed-fields.ts';
import {
  type Change,
  changeJson,
  type FeedRange,
  type FeedStart,
  findRange,
  hasLeague,
  readFeed,
} from '../store/queries/feed.ts';
import { followFeed } from '../store/queries/follow-feed.ts';
import { findByFormerName, findByName, listNames } from '../store/queries/leagues.ts';
import { escapeAtTerminal, isPipe } from '../terminal/style.ts';
import { systemClock } from '../time/clock.ts';
import { type ChangeRow, formatChanges } from './change-text.ts';
import type { Command } from './command.ts';
import { type DatabaseOption, findDatabase } from './find-database.ts';

/** The number of changes shown if neither `--since` nor `--limit` is given. */
const DEFAULT_LIMIT = 50;

type ChangesOptions = DatabaseOption & {
  readonly since?: FeedStart;
  readonly league?: string;
  readonly kind?: Change['kind'];
  readonly limit?: number;
  readonly json?: boolean;
  readonly follow?: boolean;
};

export const changes: Command<ChangesOptions> = async (io, options) => {
  const { since, league, kind, limit, json = false, follow = false, ...option } = options;
  if (follow && since !== undefined && limit !== undefined)
    throw new UsageError(
      'With --follow, use --since or --limit, not both: --limit is how many older changes come first.',
    );
  const path = findDatabase(io, option);
  const start = since ?? { newest: limit ?? DEFAULT_LIMIT };
  const filter = { leagueId: league === undefined ? undefined : findLeagueId(path, league), kind };
  const range = withReader(path, (db) => findRange(db, start, filter));
  let day = '';
  const format = (page: readonly Change[]): readonly string[] => {
    if (json) return page.map((entry) => escapeAtTerminal(changeJson(entry), io.terminal));
    if (isPipe(io.terminal)) return page.map(describeEntry);
    const rows = page.map((entry, index) => toRow(entry, dayOf(page[index - 1]) ?? day, follow));
    return formatChanges(rows, io.terminal, follow ? FOLLOWED : undefined);
  };
  const show = async (page: readonly Change[]): Promise<void> => {
    if (page.length > 0) await io.print(format(page).join('\n'));
    day = dayOf(page.at(-1)) ?? day;
  };
  if (follow) {
    if ('afterSeq' in start && range.after > range.last) throw new UsageError(describeBeyond(range));
    for await (const page of followFeed(path, start, { filter, clock: systemClock, stop: io.stop })) await show(page);
    return EXIT.done;
  }
  let shown = 0;
  for (const page of readFeed(path, range, limit)) {
    await show(page);
    shown += page.length;
  }
  if (shown === 0 && !json) await io.say(range.after > range.last ? describeBeyond(range) : 'no changes');
  return EXIT.done;
};

/** Widths that fit most changes: with `--follow` the columns stay where they are. */
const FOLLOWED = { name: 24, field: 18 };

function dayOf(entry: Change | undefined): string | undefined {
  return entry?.at.slice(0, 10);
}

/** With the time, since an age would be wrong a moment later. A day that is not the one before begins with its name. */
function toRow(entry: Change, lastDay: string, hasSeconds: boolean): ChangeRow {
  const { seq, at, kind, league_id } = entry;
  const day = at.slice(0, 10);
  const heading = day === lastDay ? undefined : `${WEEKDAYS[new Date(at).getUTCDay()]} ${day} (UTC)`;
  const name = nameBefore(entry)?.trim() || league_id;
  const lead = [String(seq), at.slice(11, hasSeconds ? 19 : 16)];
  return { heading, lead, mark: MARKS[kind], name, fields: changedFields(entry) };
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

const MARKS: Readonly<Record<Change['kind'], ChangeRow['mark']>> = {
  added: { text: '+', tone: 'good' },
  changed: { text: '~', tone: 'warning' },
  removed: { text: '−', tone: 'bad' },
  restored: { text: '↺', tone: 'good' },
};

/** A number beyond the end often means that a date was mistyped. */
function describeBeyond({ last }: FeedRange): string {
  return `no changes: the feed ends at ${last}; for a time write a date such as 2026-11-20`;
}

/** The id of the league with this id or, if there is none, with this name. Throws a UsageError unless there is one. */
function findLeagueId(path: string, idOrName: string): string {
  const named = withReader(path, (db) => (hasLeague(db, idOrName) ? idOrName : findByName(db, idOrName)));
  if (typeof named === 'string') return named;
  const [league] = named;
  if (league === undefined) {
    const [former, names] = withReader(path, (db) => [findByFormerName(db, idOrName), listNames(db)] as const);
    if (former.length > 0)
      throw new UsageError(
        `No league is named "${idOrName}" any longer; use the league_id of one that was: ${former.join(', ')}.`,
      );
    const meant = didYouMean(idOrName, names);
    throw new UsageError(`There is no league with the id or the name "${idOrName}"${meant || '.'}`);
  }
  if (named.length === 1) return league.league_id;
  const listed = named.map(
    ({ league_id, sport, removed_at }) => `${league_id} (${sport}${removed_at ? ', removed' : ''})`,
  );
  throw new UsageError(
    `${named.length} leagues have the name "${idOrName}"; use the league_id of one: ${listed.join(', ')}.`,
  );
}
