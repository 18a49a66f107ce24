import type Database from 'better-sqlite3';

const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;
const DAY_MS = HOURS_A_DAY * HOUR_MS;
/** `runs` is kept for this many days by default. */
const DAYS = 90;
const MAX_OUTAGES = 3;

/** From 0 to 1; undefined if nothing is known of the time. */
export type Share = number | undefined;

/** A time in which polls failed, the data was stale, or both. Timestamps are in ms. */
export type Outage = {
  /** When the first poll failed, or the data became stale. */
  readonly from: number;
  /** When the next good poll ended; undefined if none has. */
  readonly to: number | undefined;
  readonly failedPolls: number;
  /** Why the last of these polls failed. */
  readonly error: string | null;
  readonly staleMs: number;
};

export type FreshTime = {
  /** The share of each day (UTC) in which the data was fresh, oldest first; the last is today, up to now. */
  readonly days: readonly { readonly startsAt: number; readonly share: Share }[];
  /** The share of the last 24 hours, 7 days and 90 days, and of how much (ms) of that time anything is known. */
  readonly shares: readonly { readonly name: string; readonly share: Share; readonly knownMs: number }[];
  /** The last outages, newest first. */
  readonly outages: readonly Outage[];
};

type Run = readonly [
  id: number,
  kind: string,
  outcome: string,
  startedAt: string,
  finishedAt: string,
  staleAt: string | null,
  error: string | null,
];

const GOOD = new Set(['changed', 'unchanged', 'held']);

// Repeats the conditions of the index `runs_with_changes`, so that SQLite uses that index.
const LAST_BEFORE = `SELECT id FROM runs WHERE kind = 'leagues' AND added + changed + restored + removed > 0
  AND finished_at < ? ORDER BY finished_at DESC LIMIT 1`;
const RUNS_AFTER = `SELECT id, kind, outcome, started_at, finished_at, stale_at, error_message FROM runs
  WHERE id > ? ORDER BY id`;

/**
 * Data is fresh from the end of a good poll to that of the next one, or until it becomes stale (`runs.stale_at`). Each
 * run is read once and added to the sums of its hours, which stay in memory: `runs` may have 130,000 rows.
 */
export function createFreshTime(): (db: Database.Database, now: number) => FreshTime {
  const sums = createSums();
  const timeline = createTimeline(sums);
  return (db, now) => {
    const today = Math.floor(now / DAY_MS) * DAY_MS;
    const since = today - (DAYS - 1) * DAY_MS;
    sums.forgetBefore(since);
    timeline.startAfter(() => db.prepare<[string], number>(LAST_BEFORE).pluck().get(new Date(since).toISOString()));
    for (const run of db.prepare(RUNS_AFTER).raw(true).iterate(timeline.lastId()) as IterableIterator<Run>)
      if (!timeline.add(run)) break;
    const { pending, outages } = timeline.upTo(now);
    const share = (from: number, to: number) => sums.share(from, to, pending);
    return {
      days: Array.from({ length: DAYS }, (_, index) => {
        const startsAt = since + index * DAY_MS;
        return { startsAt, share: share(startsAt, startsAt + DAY_MS).share };
      }),
      shares: [
        { name: '24 h', ...share(now - DAY_MS, now) },
        { name: '7 d', ...share(now - 7 * DAY_MS, now) },
        { name: '90 d', ...share(since, now) },
      ],
      outages,
    };
  };
}

type Span = { readonly from: number; readonly to: number; readonly isFresh: boolean };
type Sums = ReturnType<typeof createSums>;

/** How long the data was fresh and stale, by the hour. */
function createSums() {
  const hours = new Map<number, { fresh: number; stale: number }>();
  const addTo = (sum: { fresh: number; stale: number }, ms: number, isFresh: boolean): void => {
    sum[isFresh ? 'fresh' : 'stale'] += ms;
  };
  return {
    add: ({ from, to, isFresh }: Span): void => {
      for (let start = from; start < to; ) {
        const hour = Math.floor(start / HOUR_MS);
        const end = Math.min(to, (hour + 1) * HOUR_MS);
        const sum = hours.get(hour) ?? { fresh: 0, stale: 0 };
        hours.set(hour, sum);
        addTo(sum, end - start, isFresh);
        start = end;
      }
    },
    forgetBefore: (time: number): void => {
      for (const hour of hours.keys()) if ((hour + 1) * HOUR_MS <= time) hours.delete(hour);
    },
    /** The share from the full hour nearest to `from` up to `to`, with spans that are not added yet. */
    share: (from: number, to: number, pending: readonly Span[]) => {
      const total = { fresh: 0, stale: 0 };
      const first = Math.round(from / HOUR_MS);
      for (let hour = first; hour * HOUR_MS < to; hour += 1) {
        const sum = hours.get(hour);
        total.fresh += sum?.fresh ?? 0;
        total.stale += sum?.stale ?? 0;
      }
      const start = first * HOUR_MS;
      for (const span of pending)
        addTo(total, Math.max(0, Math.min(span.to, to) - Math.max(span.from, start)), span.isFresh);
      const knownMs = total.fresh + total.stale;
      const share: Share = knownMs === 0 ? undefined : total.fresh / knownMs;
      return { share, knownMs };
    },
  };
}

/** Goes through the runs in their order, and adds the time between good polls of the leagues to the sums. */
function createTimeline(sums: Sums) {
  let lastId: number | undefined;
  /** Since when (a timestamp) the data has been fresh without a break; before that, everything has been added. */
  let freshSince: string | undefined;
  let good: { readonly finishedAt: string; readonly staleAt: string } | undefined;
  /** When the first failed poll began; set while no good poll is known. */
  let waitingSince: string | undefined;
  let failed: { readonly from: string; readonly polls: number; readonly error: string | null } | undefined;
  let outages: readonly Outage[] = [];

  const span = (from: string, to: string, isFresh: boolean): Span => ({
    from: Date.parse(from),
    to: Date.parse(to),
    isFresh,
  });
  const outage = (to: string, isOver: boolean): readonly Outage[] => {
    const staleFrom = good === undefined ? waitingSince : good.staleAt < to ? good.staleAt : undefined;
    const begins = [staleFrom, failed?.from].filter((at) => at !== undefined).map((at) => Date.parse(at));
    if (begins.length === 0 || (good === undefined && failed === undefined)) return [];
    const until = Date.parse(to);
    const staleMs = staleFrom === undefined ? 0 : Math.max(0, until - Date.parse(staleFrom));
    const { polls = 0, error = null } = failed ?? {};
    return [{ from: Math.min(...begins), to: isOver ? until : undefined, failedPolls: polls, error, staleMs }];
  };
  /** The time since the last good poll, up to `to`. */
  const spansUpTo = (to: string): readonly Span[] => {
    if (good === undefined) return waitingSince === undefined ? [] : [span(waitingSince, to, false)];
    const end = good.staleAt < to ? good.staleAt : to;
    return [span(freshSince ?? good.finishedAt, end, true), span(end, to, false)];
  };
  /** Rows that were deleted, or that say nothing, leave a time of which nothing is known. */
  const forget = (): void => {
    if (good !== undefined && freshSince !== undefined) sums.add(span(freshSince, good.finishedAt, true));
    freshSince = good = waitingSince = failed = undefined;
  };
  const succeed = (finishedAt: string, staleAt: string): void => {
    outages = [...outage(finishedAt, true), ...outages].slice(0, MAX_OUTAGES);
    if (good === undefined || good.staleAt < finishedAt) {
      for (const part of spansUpTo(finishedAt)) sums.add(part);
      freshSince = finishedAt;
    }
    good = { finishedAt, staleAt };
    waitingSince = failed = undefined;
  };

  return {
    startAfter: (find: () => number | undefined): void => {
      lastId ??= find() ?? 0;
    },
    lastId: (): number => lastId ?? 0,
    /** False if the run has not ended. */
    add: ([id, kind, outcome, startedAt, finishedAt, staleAt, error]: Run): boolean => {
      if (outcome === 'running') return false;
      if (id !== (lastId ?? 0) + 1) forget();
      lastId = id;
      if (kind !== 'leagues') return true;
      if (GOOD.has(outcome)) {
        if (staleAt === null) forget();
        else succeed(finishedAt, staleAt);
      } else if (outcome === 'failed') {
        if (good === undefined) waitingSince ??= startedAt;
        failed = { from: failed?.from ?? startedAt, polls: (failed?.polls ?? 0) + 1, error };
      }
      return true;
    },
    /** What is not added yet: the time from the last good poll on. */
    upTo: (now: number) => {
      const to = new Date(now).toISOString();
      return { pending: spansUpTo(to), outages: [...outage(to, false), ...outages].slice(0, MAX_OUTAGES) };
    },
  };
}
