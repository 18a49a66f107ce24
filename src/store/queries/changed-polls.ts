import type Database from 'better-sqlite3';
import type { JsonValue } from '../../league/json.ts';
import { DAY_MS } from '../../time/duration.ts';
import { type ChangedField, changedFields, countFields } from './changed-fields.ts';
import { type Change, lastSeq } from './feed.ts';

export type Kind = Change['kind'];
export const KINDS: readonly Kind[] = ['added', 'changed', 'removed', 'restored'];

/** A change for the status page, with long values truncated. */
export type RecentChange = Pick<Change, 'seq' | 'at' | 'kind' | 'league_id' | 'league_name'> & {
  readonly sport: string | null;
  readonly fields: readonly FieldChange[];
};

/** The old and the new value as text; each is null if the field had no value. */
export type FieldChange = { readonly field: string; readonly old: string | null; readonly now: string | null };

/** A poll that changed leagues. All its changes have the timestamp `at`. */
export type ChangedPoll = { readonly id: number; readonly at: string } & Readonly<Record<Kind, number>>;

export type PollFilter = {
  /** A day in UTC, `YYYY-MM-DD`. */
  readonly day?: string | undefined;
  /** Selects polls with changes of this kind. */
  readonly kind?: Kind | undefined;
  /** Selects the polls before the poll with this id; in a search, the changes before this change. */
  readonly older?: number | undefined;
};

/** What is selected beyond days and kinds, which `runs` knows: these are looked for in the feed itself. */
export type FeedSearch = PollFilter & {
  /** The id of the poll that found the changes. */
  readonly poll?: number | undefined;
  readonly sport?: string | undefined;
  readonly field?: string | undefined;
  readonly league?: string | undefined;
};

/** A line for a change, or for all changes of one kind of a poll. */
export type Line = RecentChange | Fold;

export type Fold = Pick<RecentChange, 'at' | 'kind'> & {
  /** The id of the poll. */
  readonly poll: number;
  readonly leagues: number;
  /** How many of the changes are of each field, most first; none if they were not counted. */
  readonly fields: ReturnType<typeof countFields>;
  readonly examples: readonly RecentChange[];
};

type ViewLimits = { readonly maxChanges: number; readonly foldAbove: number };

// Repeats the conditions of the covering index `runs_with_changes`, so that SQLite uses that index: the feed may have
// millions of rows.
const CHANGED_POLLS = "FROM runs WHERE kind = 'leagues' AND added + changed + restored + removed > 0";
const MAX_SHOWN_CHARS = 200;

const join = (conditions: readonly (string | false | undefined)[]): string =>
  conditions.filter((condition) => condition).join(' AND ') || 'true';

/** `T~` sorts after every time of the day, since a tilde sorts after all digits. */
const onDay = (time: string): string => `${time} >= @day AND ${time} < @day || 'T~'`;

/**
 * The newest polls that match, until these have `maxChanges` changes, of which a kind counts at most `foldAbove`. `next`:
 * the last of them, if there are more.
 */
export function readPolls(db: Database.Database, filter: PollFilter, { maxChanges, foldAbove }: ViewLimits) {
  const { day, kind, older } = filter;
  const where = [
    day && onDay('finished_at'),
    kind && `${kind} > 0`,
    older !== undefined && 'finished_at < (SELECT finished_at FROM runs WHERE id = @older)',
  ];
  const sql = `SELECT id, finished_at AS at, added, changed, removed, restored ${join([CHANGED_POLLS, ...where])}
    ORDER BY finished_at DESC`;
  const polls: ChangedPoll[] = [];
  let changes = 0;
  for (const poll of db.prepare<[object], ChangedPoll>(sql).iterate(filter)) {
    if (changes >= maxChanges) return { polls, next: polls.at(-1)?.id };
    polls.push(poll);
    for (const one of kind ? [kind] : KINDS) changes += poll[one] > foldAbove ? 1 : poll[one];
  }
  return { polls, next: undefined };
}

/** The changes of a league, newest first. */
export function readChanges(db: Database.Database, leagueId: string, limit: number): readonly RecentChange[] {
  const found = 'SELECT * FROM league_changes WHERE league_id = @leagueId ORDER BY at DESC, seq DESC LIMIT @limit';
  return prepareChanges(db, found)({ leagueId, limit });
}

const memberOf = (name: string): string => `coalesce(after ->> '$.${name}', before ->> '$.${name}')`;

/** Reads the changes that the statement `found` selects, in its order. */
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

/** The newest changes that match, line by line. `next` is where the list goes on. */
export function readLines(db: Database.Database, search: FeedSearch, limits: ViewLimits) {
  const isInFeed = [search.poll, search.sport, search.field, search.league].some((value) => value !== undefined);
  return isInFeed ? searchChanges(db, search, limits.maxChanges) : readPollLines(db, search, limits);
}

/** A search looks through no more changes at once, since the feed may have millions: this takes some 20 ms. */
const MAX_SEARCHED = 10_000;

/** Before the change `older`. `next` is where a search that has not ended goes on. */
export function searchChanges(db: Database.Database, search: FeedSearch, limit: number) {
  const { day, kind, poll, sport, field, league, older } = search;
  const range = join([
    day && onDay('at'),
    poll !== undefined && 'at = (SELECT finished_at FROM runs WHERE id = @poll)',
    league && 'league_id = @league',
    older !== undefined && 'at <= (SELECT at FROM league_changes WHERE seq = @older) AND seq < @older',
  ]);
  const searched = `SELECT * FROM league_changes WHERE ${range} ORDER BY at DESC, seq DESC LIMIT ${MAX_SEARCHED}`;
  const matches = join([
    kind && 'kind = @kind',
    sport && `substr(${memberOf('sport')}, 1, ${MAX_SHOWN_CHARS}) = @sport`,
    field && "kind IN ('changed', 'restored') AND json_type(before, '$.' || @field) IS NOT NULL",
  ]);
  const lines = prepareChanges(db, `SELECT * FROM (${searched}) WHERE ${matches} LIMIT @limit`)({ ...search, limit });
  const last = `SELECT seq FROM (${searched}) LIMIT 1 OFFSET ${MAX_SEARCHED - 1}`;
  const next = lines.length === limit ? lines.at(-1)?.seq : db.prepare<[object], number>(last).pluck().get(search);
  return { lines, next };
}

/** How many leagues a line names that stands for all changes of one kind. */
const EXAMPLES = 3;

/** Fields are counted in no more changes of one page. */
const MAX_COUNTED = 1_000;

/** A kind of which a poll has more than `foldAbove` changes is one line. */
function readPollLines(db: Database.Database, filter: PollFilter, limits: ViewLimits) {
  const read = prepareChanges(
    db,
    `SELECT * FROM league_changes WHERE at = @at AND kind IN (SELECT value FROM json_each(@kinds))
      ORDER BY seq LIMIT @limit`,
  );
  const { polls, next } = readPolls(db, filter, limits);
  let left = MAX_COUNTED;
  const lines = polls.flatMap((poll): readonly Line[] => {
    const { id, at } = poll;
    const kinds = filter.kind ? [filter.kind] : KINDS.filter((kind) => poll[kind] > 0);
    const [folded, open] = [
      kinds.filter((kind) => poll[kind] > limits.foldAbove),
      kinds.filter((kind) => poll[kind] <= limits.foldAbove),
    ];
    const folds = folded.map((kind) => {
      const isCounted = kind === 'changed' && poll.changed <= left;
      if (isCounted) left -= poll.changed;
      const examples = read({ at, kinds: JSON.stringify([kind]), limit: EXAMPLES });
      return { at, kind, poll: id, leagues: poll[kind], fields: isCounted ? countFields(db, at) : [], examples };
    });
    const limit = open.reduce((sum, kind) => sum + poll[kind], 0);
    return [...folds, ...read({ at, kinds: JSON.stringify(open), limit })];
  });
  return { lines, next };
}

/** How many changes of each kind there were on one day (UTC, `YYYY-MM-DD`). */
export type DayCounts = { readonly day: string } & Readonly<Record<Kind, number>>;

export const WEEKS = 53;

/** The Sunday (ms) that begins the last 53 weeks, of which this one is the last. */
export function firstSunday(now: number): number {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  return today - (new Date(today).getUTCDay() + (WEEKS - 1) * 7) * DAY_MS;
}

/** Counts the changes of each day of these weeks, oldest first, when the feed has grown; days that are over only once. */
export function createDayCounter() {
  let known: readonly DayCounts[] = [];
  let lastKey = '';
  return (db: Database.Database, now: number): readonly DayCounts[] => {
    const since = new Date(firstSunday(now)).toISOString();
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
