import type Database from 'better-sqlite3';
import type { JsonValue } from '../../league/json.ts';
import { type ChangedField, changedFields, countFields } from './changed-fields.ts';
import { type Change, lastSeq } from './feed.ts';

export type Kind = Change['kind'];
export const KINDS: readonly Kind[] = ['added', 'changed', 'removed', 'restored'];

/** A change for the status page, with long values truncated. */
export type RecentChange = Pick<Change, 'seq' | 'at' | 'kind' | 'league_id' | 'league_name'> & {
  readonly sport: string | null;
  readonly fields: readonly FieldChange[];
};

/** The old and the new value as text, flags as `true` or `false`; each is null if the field had no value. */
export type FieldChange = { readonly field: string; readonly old: string | null; readonly now: string | null };

/** A poll that changed leagues. All its changes have the timestamp `at`. */
export type ChangedPoll = { readonly id: number; readonly at: string } & Readonly<Record<Kind, number>>;

export type PollFilter = {
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

/** The polls that match, newest first; with `newerThan`, the next ones after that poll. */
function* iteratePolls(db: Database.Database, filter: PollFilter): Generator<ChangedPoll> {
  const { day, kind, olderThan, newerThan } = filter;
  const at = '(SELECT finished_at FROM runs WHERE id = ';
  const where = [
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

/** The changes of a league, newest first. */
export function readChanges(db: Database.Database, leagueId: string, limit: number): readonly RecentChange[] {
  const found = 'SELECT * FROM league_changes WHERE league_id = @leagueId ORDER BY at DESC, seq DESC LIMIT @limit';
  return prepareChanges(db, found)({ leagueId, limit });
}

const memberOf = (name: string): string => `coalesce(after ->> '$.${name}', before ->> '$.${name}')`;

/** Reads the changes that the statement `found` selects, in its order. Preparing takes longer than reading a few. */
function prepareChanges(db: Database.Database, found: string): (values: object) => readonly RecentChange[] {
  const member = (name: string): string => `substr(${memberOf(name)}, 1, ${MAX_SHOWN_CHARS}) AS ${name}`;
  const rows = db.prepare<[object], Omit<RecentChange, 'fields'> & Pick<Change, 'before' | 'after'>>(
    `SELECT seq, at, kind, league_id, ${member('league_name')}, ${member('sport')}, before, after FROM (${found})`,
  );
  const shorten = ({ field, old, now }: ChangedField) => ({ field, old: toText(old), now: toText(now) });
  // One by one: a change may have very long values.
  return (values) =>
    Array.from(rows.iterate(values), ({ before, after, ...row }) => {
      return { ...row, fields: changedFields({ before, after }).map(shorten) };
    });
}

function toText(value: JsonValue): string | null {
  if (value === null) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.slice(0, MAX_SHOWN_CHARS).toWellFormed();
}

/** What is selected beyond days and kinds, which `runs` knows: these are looked for in the feed itself. */
export type FeedSearch = Pick<PollFilter, 'day' | 'kind' | 'olderThan'> & {
  /** The id of the poll that found the changes. */
  readonly poll?: number | undefined;
  readonly sport?: string | undefined;
  readonly field?: string | undefined;
  readonly league?: string | undefined;
};

/** A search looks through no more changes at once, since the feed may have millions: this takes some 20 ms. */
const MAX_SEARCHED = 10_000;

/** The newest changes that match, before the change `olderThan`. `next` is where a search that has not ended goes on. */
export function searchChanges(db: Database.Database, search: FeedSearch, limit: number) {
  const { day, kind, poll, sport, field, league, olderThan } = search;
  const join = (conditions: readonly (string | false | undefined)[]): string =>
    conditions.filter((condition) => condition).join(' AND ') || 'true';
  const range = join([
    day && "at >= @day AND at < @day || 'T~'",
    poll !== undefined && 'at = (SELECT finished_at FROM runs WHERE id = @poll)',
    league && 'league_id = @league',
    olderThan !== undefined && 'at <= (SELECT at FROM league_changes WHERE seq = @olderThan) AND seq < @olderThan',
  ]);
  const searched = `SELECT * FROM league_changes WHERE ${range} ORDER BY at DESC, seq DESC LIMIT ${MAX_SEARCHED}`;
  const matches = join([
    kind && 'kind = @kind',
    sport && `substr(${memberOf('sport')}, 1, ${MAX_SHOWN_CHARS}) = @sport`,
    field && "kind IN ('changed', 'restored') AND json_type(before, '$.' || @field) IS NOT NULL",
  ]);
  const found = prepareChanges(db, `SELECT * FROM (${searched}) WHERE ${matches} LIMIT @limit`)({ ...search, limit });
  const last = `SELECT seq FROM (${searched}) LIMIT 1 OFFSET ${MAX_SEARCHED - 1}`;
  const next = found.length === limit ? found.at(-1)?.seq : db.prepare<[object], number>(last).pluck().get(search);
  return { changes: found, next };
}

export type PollView = ReturnType<typeof readViews>[number];

/** How many leagues a line names that stands for all changes of one kind. */
const EXAMPLES = 3;

/** Fields are counted in no more changes of one page. */
const MAX_COUNTED = 1_000;

/** Polls with those of their changes that are shown. A kind of which a poll has more than `foldAbove` is one line. */
export function readViews(db: Database.Database, filter: PollFilter, limits: ViewLimits) {
  const readOf = prepareChanges(
    db,
    `SELECT * FROM league_changes WHERE at = @at AND kind IN (SELECT value FROM json_each(@kinds))
      ORDER BY seq LIMIT @limit`,
  );
  let left = MAX_COUNTED;
  const countIn = (poll: ChangedPoll) => {
    if (poll.changed > left) return undefined;
    left -= poll.changed;
    return countFields(db, poll.at);
  };
  return readPolls(db, filter, limits).map((poll) => {
    const kinds = filter.kind ? [filter.kind] : KINDS.filter((kind) => poll[kind] > 0);
    const folded = kinds.filter((kind) => poll[kind] > limits.foldAbove);
    const open = kinds.filter((kind) => !folded.includes(kind));
    const read = (wanted: readonly Kind[], limit: number) =>
      readOf({ at: poll.at, kinds: JSON.stringify(wanted), limit });
    const limit = open.reduce((sum, kind) => sum + poll[kind], 0);
    return {
      poll,
      folded: folded.map((kind) => ({
        kind,
        fields: kind === 'changed' ? countIn(poll) : undefined,
        examples: read([kind], EXAMPLES),
      })),
      changes: limit === 0 ? [] : read(open, limit),
    };
  });
}

export type ChangesPage = ReturnType<typeof readChangesPage>;

export function readChangesPage(db: Database.Database, filter: PollFilter, limits: ViewLimits) {
  const views = readViews(db, filter, limits);
  const [newest, oldest] = [views[0]?.poll.id, views.at(-1)?.poll.id];
  const { day, kind } = filter;
  const isAny = (beyond: PollFilter): boolean => {
    const [first] = iteratePolls(db, { day, kind, ...beyond });
    return first !== undefined;
  };
  return {
    views,
    hasOlder: oldest !== undefined && isAny({ olderThan: oldest }),
    hasNewer: newest !== undefined && isAny({ newerThan: newest }),
  };
}

/** How many changes of each kind there were on one day (UTC, `YYYY-MM-DD`). */
export type DayCounts = { readonly day: string } & Readonly<Record<Kind, number>>;

/** Counts the changes of each day since a timestamp, oldest first, when the feed has grown; days that are over only once. */
export function createDayCounter() {
  let known: readonly DayCounts[] = [];
  let lastKey = '';
  return (db: Database.Database, since: string): readonly DayCounts[] => {
    const key = `${lastSeq(db)} ${since}`;
    const from = known.at(-1)?.day ?? since;
    if (key !== lastKey)
      known = [...known.filter(({ day }) => day >= since.slice(0, 10) && day < from), ...readDays(db, from)];
    lastKey = key;
    return known;
  };
}

/** From `runs`: the feed may have millions of rows. */
function readDays(db: Database.Database, since: string): readonly DayCounts[] {
  const sql = `SELECT substr(finished_at, 1, 10) AS day, sum(added) AS added, sum(changed) AS changed,
      sum(removed) AS removed, sum(restored) AS restored
    ${CHANGED_POLLS} AND finished_at >= ? GROUP BY day ORDER BY day`;
  return db.prepare<[string], DayCounts>(sql).all(since);
}
