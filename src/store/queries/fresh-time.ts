import type Database from 'better-sqlite3';
import { DAY_MS } from '../../time/duration.ts';
import type { runs } from '../schema.ts';

/** `runs` is kept for this many days by default. */
const DAYS = 90;
const MAX_OUTAGES = 3;

/** The share of a time in which the data was fresh, from 0 to 1; undefined if nothing is known of the time. */
export type Share = number | undefined;

/** A row of the view `outages`. Timestamps are in ms. */
export type Outage = {
  /** When the first poll that failed began. */
  readonly from: number;
  /** When the next good poll ended; null if none has. */
  readonly to: number | null;
  readonly failedPolls: number;
  /** Why the last of these polls failed. */
  readonly error: string | null;
  readonly staleMs: number;
};

export type FreshTime = NonNullable<ReturnType<ReturnType<typeof createCounter>>>;

type Run = Pick<typeof runs.$inferSelect, 'id' | 'kind' | 'outcome' | 'started_at' | 'finished_at' | 'stale_at'>;

const GOOD = new Set(['changed', 'unchanged', 'held']);

// Repeats the conditions of the index `runs_with_changes`, so that SQLite uses that index.
const LAST_BEFORE = `SELECT id FROM runs WHERE kind = 'leagues' AND added + changed + restored + removed > 0
  AND finished_at < ? ORDER BY finished_at DESC LIMIT 1`;
const RUNS_AFTER = `SELECT id, kind, outcome, started_at, finished_at, stale_at FROM runs
  WHERE id > ? ORDER BY id LIMIT ?`;
const OUTAGES = `SELECT unixepoch(since) * 1000 AS "from", unixepoch(until) * 1000 AS "to", failed_polls AS failedPolls,
    error_message AS error, unixepoch(stale_since) * 1000 AS staleFrom FROM outages LIMIT ${MAX_OUTAGES}`;
/** Read at once, which takes some 10 ms: meanwhile the worker answers no request. */
const MAX_ROWS = 10_000;

/**
 * Data is fresh from the end of a good poll to that of the next one, or until it becomes stale (`runs.stale_at`). Each
 * run is read once: `runs` may have 800,000 rows, but the spans that stay in memory are few. The runs are read in parts,
 * with `read` in later turns of the event loop; the result is undefined until all have been read.
 */
export function createFreshTime(read: Read) {
  const count = createCounter();
  let isCounting = false;
  const goOn = (now: number): void => {
    isCounting = true;
    setImmediate(() => {
      isCounting = false;
      try {
        if (read((db) => count(db, now)) === undefined) goOn(now);
      } catch {
        // The next request for the page tries again.
      }
    });
  };
  return (db: Database.Database, now: number): FreshTime | undefined => {
    if (isCounting) return undefined;
    const found = count(db, now);
    if (found === undefined) goOn(now);
    return found;
  };
}

type Read = <T>(work: (db: Database.Database) => T) => T;

/** A call of the function reads at most `maxRows` runs; its result is undefined until all have been read. */
export function createCounter(maxRows = MAX_ROWS) {
  const timeline = createTimeline();
  let lastId: number | undefined;
  return (db: Database.Database, now: number) => {
    const today = Math.floor(now / DAY_MS) * DAY_MS;
    const since = today - (DAYS - 1) * DAY_MS;
    lastId ??= db.prepare<[string], number>(LAST_BEFORE).pluck().get(new Date(since).toISOString()) ?? 0;
    const unread = db.prepare<[number, number], Run>(RUNS_AFTER).all(lastId, maxRows);
    for (const run of unread) {
      if (run.outcome === 'running') break;
      // Rows that were deleted leave a time of which nothing is known.
      if (run.id !== lastId + 1) timeline.forget();
      timeline.add(run);
      lastId = run.id;
    }
    if (unread.length === maxRows && lastId === unread.at(-1)?.id) return undefined;
    const spans = timeline.read(since, now);
    const share = (from: number, to: number) => shareOf(spans, from, to);
    return {
      /** Each day (UTC), oldest first; the last is today, up to now. */
      days: Array.from({ length: DAYS }, (_, index) => {
        const startsAt = since + index * DAY_MS;
        return { startsAt, share: share(startsAt, startsAt + DAY_MS).share };
      }),
      /** With how much (ms) of the time anything is known of. */
      shares: [
        { name: '24 h', ...share(now - DAY_MS, now) },
        { name: '7 d', ...share(now - 7 * DAY_MS, now) },
        { name: '90 d', ...share(since, now) },
      ],
      /** The last ones, newest first. */
      outages: readOutages(db, now),
    };
  };
}

function readOutages(db: Database.Database, now: number): readonly Outage[] {
  const rows = db.prepare<[], Omit<Outage, 'staleMs'> & { readonly staleFrom: number | null }>(OUTAGES).all();
  return rows.map(({ staleFrom, ...row }) => ({
    ...row,
    staleMs: staleFrom === null ? 0 : Math.max(0, (row.to ?? now) - staleFrom),
  }));
}

type Span = { readonly from: number; readonly to: number; readonly isFresh: boolean };

function shareOf(spans: readonly Span[], begin: number, end: number) {
  const total = { fresh: 0, stale: 0 };
  // In their order. There are thousands where data becomes stale between all polls.
  for (const { from, to, isFresh } of spans) {
    if (to <= begin) continue;
    if (from >= end) break;
    total[isFresh ? 'fresh' : 'stale'] += Math.min(to, end) - Math.max(from, begin);
  }
  const knownMs = total.fresh + total.stale;
  const share: Share = knownMs === 0 ? undefined : total.fresh / knownMs;
  return { share, knownMs };
}

/** Goes through the runs in their order, and divides the time between good polls of the leagues. */
function createTimeline() {
  /** The last good poll, and since when the data has been fresh without a break; `spans` end there. */
  let good: { readonly freshSince: number; readonly finishedAt: number; readonly staleAt: number } | undefined;
  let failedSince: number | undefined;
  let spans: Span[] = [];

  /** The time up to `to` that `spans` lack. */
  const openSpans = (to: number): readonly Span[] => {
    if (good === undefined) return failedSince === undefined ? [] : [{ from: failedSince, to, isFresh: false }];
    const end = Math.min(good.staleAt, to);
    return [
      { from: good.freshSince, to: end, isFresh: true },
      { from: end, to, isFresh: false },
    ];
  };
  const forget = (): void => {
    if (good !== undefined) spans.push({ from: good.freshSince, to: good.finishedAt, isFresh: true });
    good = failedSince = undefined;
  };
  const succeed = (finishedAt: number, staleAt: number): void => {
    const freshSince = good !== undefined && good.staleAt >= finishedAt ? good.freshSince : undefined;
    if (freshSince === undefined) spans.push(...openSpans(finishedAt));
    good = { freshSince: freshSince ?? finishedAt, finishedAt, staleAt };
    failedSince = undefined;
  };

  return {
    forget,
    add: ({ kind, outcome, started_at, finished_at, stale_at }: Run): void => {
      if (kind !== 'leagues') return;
      if (outcome === 'failed') failedSince ??= Date.parse(started_at);
      if (!GOOD.has(outcome)) return;
      if (finished_at === null || stale_at === null) forget();
      else succeed(Date.parse(finished_at), Date.parse(stale_at));
    },
    /** The spans from `since` up to `now`. */
    read: (since: number, now: number) => {
      spans = spans.filter(({ to }) => to > since);
      return [...spans, ...openSpans(now)];
    },
  };
}
