import type Database from 'better-sqlite3';
import { LEAGUE_MEMBERS } from '../../league/schemas.ts';
import type { FeedEntry } from './feed.ts';

export type Kind = FeedEntry['kind'];
export const KINDS: readonly Kind[] = ['added', 'changed', 'removed', 'restored'];

/** A change for the status page, with long values truncated. */
export type RecentChange = Pick<FeedEntry, 'seq' | 'at' | 'kind' | 'league_id' | 'league_name'> & {
  readonly sport: string | null;
  readonly fields: readonly FieldChange[];
};

/** The old and the new value as text, flags as `true` or `false`; each is null if the field had no value. */
export type FieldChange = { readonly field: string; readonly old: string | null; readonly now: string | null };

/** A poll that changed leagues. All its changes have the timestamp `at`. */
export type ChangedPoll = { readonly id: number; readonly at: string } & Readonly<Record<Kind, number>>;

export type PollFilter = {
  readonly id?: number;
  /** A day in UTC, `YYYY-MM-DD`. */
  readonly day?: string | undefined;
  /** Selects polls with changes of this kind. */
  readonly kind?: Kind | undefined;
  /** Selects the polls before, or after, the poll with this id. */
  readonly olderThan?: number | undefined;
  readonly newerThan?: number | undefined;
};

// Repeats the conditions of the covering index `runs_with_changes`, so that SQLite uses that index: the feed may have
// millions of rows.
const CHANGED_POLLS = "FROM runs WHERE kind = 'leagues' AND added + changed + restored + removed > 0";
const MAX_SHOWN_CHARS = 200;
const FLAGS = LEAGUE_MEMBERS.flatMap(({ name, type }) => (type === 'flag' ? [`'${name}'`] : [])).join();

/** The polls that match, newest first; with `newerThan`, the next ones after that poll. */
function* iteratePolls(db: Database.Database, filter: PollFilter): Generator<ChangedPoll> {
  const { id, day, kind, olderThan, newerThan } = filter;
  const at = '(SELECT finished_at FROM runs WHERE id = ';
  const where = [
    id && 'id = @id',
    // `T~` sorts after every time of the day, since a tilde sorts after all digits.
    day && "finished_at >= @day AND finished_at < @day || 'T~'",
    kind && `${kind} > 0`,
    olderThan && `finished_at < ${at} @olderThan)`,
    newerThan && `finished_at > ${at} @newerThan)`,
  ].filter((condition) => condition);
  const sql = `SELECT id, finished_at AS at, added, changed, removed, restored ${[CHANGED_POLLS, ...where].join(' AND ')}
    ORDER BY finished_at ${newerThan === undefined ? 'DESC' : 'ASC'}`;
  yield* db.prepare<[object], ChangedPoll>(sql).iterate(filter);
}

type ViewLimits = { readonly maxChanges: number; readonly foldAbove: number };

/** The first polls that match, until these have `maxChanges` changes, of which a kind counts at most `foldAbove`. */
export function readPolls(db: Database.Database, filter: PollFilter, limits: ViewLimits): readonly ChangedPoll[] {
  const { maxChanges, foldAbove } = limits;
  const polls: ChangedPoll[] = [];
  let changes = 0;
  for (const poll of iteratePolls(db, filter)) {
    polls.push(poll);
    for (const kind of filter.kind ? [filter.kind] : KINDS) changes += poll[kind] > foldAbove ? 1 : poll[kind];
    if (changes >= maxChanges) break;
  }
  return filter.newerThan === undefined ? polls : polls.reverse();
}

/** The first poll that matches. */
function findPoll(db: Database.Database, filter: PollFilter): ChangedPoll | undefined {
  for (const poll of iteratePolls(db, filter)) return poll;
  return undefined;
}

type ChangeFilter = { readonly at: string; readonly kinds: readonly Kind[] } | { readonly leagueId: string };
/** Changes of one poll in the order of the feed, or of one league, newest first. */
export function readChanges(
  db: Database.Database,
  filter: ChangeFilter,
  limits: { readonly limit: number; readonly offset?: number },
): readonly RecentChange[] {
  const where =
    'at' in filter
      ? `at = @at AND kind IN (${filter.kinds.map((kind) => `'${kind}'`).join()})`
      : 'league_id = @leagueId';
  const order = 'at' in filter ? 'seq' : 'at DESC, seq DESC';
  const member = (name: string): string =>
    `substr(coalesce(after ->> '$.${name}', before ->> '$.${name}'), 1, ${MAX_SHOWN_CHARS}) AS ${name === 'sport' ? name : 'league_name'}`;
  const sql = `SELECT seq, at, kind, league_id, ${member('league_name')}, ${member('sport')}
    FROM league_changes WHERE ${where} ORDER BY ${order} LIMIT @limit OFFSET @offset`;
  const rows = db.prepare<[object], Omit<RecentChange, 'fields'>>(sql).all({ offset: 0, ...limits, ...filter });
  const text = (value: string): string =>
    `substr(CASE WHEN ${value} IN (0, 1) AND field IN (${FLAGS}) THEN iif(${value}, 'true', 'false') ELSE CAST(${value} AS TEXT) END, 1, ${MAX_SHOWN_CHARS})`;
  const fieldsOf = db.prepare<[number], FieldChange>(
    `SELECT field, ${text('old_value')} AS old, ${text('new_value')} AS now FROM league_field_changes WHERE seq = ?`,
  );
  return rows.map((row) => ({ ...row, fields: fieldsOf.all(row.seq) }));
}

export type PollView = ReturnType<typeof readViews>[number];

/** How many leagues a line names that stands for all changes of one kind. */
const EXAMPLES = 3;

/** Polls with those of their changes that are shown. A kind of which a poll has more than `foldAbove` is one line. */
export function readViews(db: Database.Database, filter: PollFilter, limits: ViewLimits) {
  return readPolls(db, filter, limits).map((poll) => {
    const kinds = filter.kind ? [filter.kind] : KINDS.filter((kind) => poll[kind] > 0);
    const folded = kinds.filter((kind) => poll[kind] > limits.foldAbove);
    const open = kinds.filter((kind) => !folded.includes(kind));
    const read = (wanted: readonly Kind[], limit: number) => readChanges(db, { at: poll.at, kinds: wanted }, { limit });
    const limit = open.reduce((sum, kind) => sum + poll[kind], 0);
    return {
      poll,
      folded: folded.map((kind) => ({ kind, examples: read([kind], EXAMPLES) })),
      changes: limit === 0 ? [] : read(open, limit),
    };
  });
}

export type ChangesPage = ReturnType<typeof readChangesPage>;

export function readChangesPage(db: Database.Database, filter: PollFilter, limits: ViewLimits) {
  const views = readViews(db, filter, limits);
  const [newest, oldest] = [views[0]?.poll.id, views.at(-1)?.poll.id];
  const { day, kind } = filter;
  const isAny = (beyond: PollFilter): boolean => findPoll(db, { day, kind, ...beyond }) !== undefined;
  return {
    views,
    hasOlder: oldest !== undefined && isAny({ olderThan: oldest }),
    hasNewer: newest !== undefined && isAny({ newerThan: newest }),
  };
}

export type PollPage = NonNullable<ReturnType<typeof readPollPage>>;

/** A page, from 1, of the changes of one kind that a poll found; the last page if it is too high. */
export function readPollPage(db: Database.Database, id: number, kind: Kind, wanted: number, limit: number) {
  const poll = findPoll(db, { id });
  if (poll === undefined) return undefined;
  const last = Math.max(1, Math.ceil(poll[kind] / limit));
  const page = Math.min(wanted, last);
  const offset = (page - 1) * limit;
  return { poll, kind, page, last, changes: readChanges(db, { at: poll.at, kinds: [kind] }, { limit, offset }) };
}

/** How many changes of each kind there were on one day (UTC, `YYYY-MM-DD`). */
export type DayCounts = { readonly day: string } & Readonly<Record<Kind, number>>;

/** The changes of each day since a timestamp, oldest first, from `runs`: the feed may have millions of rows. */
export function readDays(db: Database.Database, since: string): readonly DayCounts[] {
  const sql = `SELECT substr(finished_at, 1, 10) AS day, sum(added) AS added, sum(changed) AS changed,
      sum(removed) AS removed, sum(restored) AS restored
    ${CHANGED_POLLS} AND finished_at >= ? GROUP BY day ORDER BY day`;
  return db.prepare<[string], DayCounts>(sql).all(since);
}
