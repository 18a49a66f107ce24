import type Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { createCounter } from '../../src/store/queries/fresh-time.ts';
import { withDatabase } from '../support/database.ts';
import { HOUR, MINUTE } from '../support/durations.ts';
import { makeFolder } from '../support/folder.ts';
import { placeEmpty } from '../support/store.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const STALE_AFTER = 15 * MINUTE;
/** Far fewer than a worker reads at once. */
const MAX_ROWS = 3;

let path = '';
let fresh: ReturnType<typeof createCounter>;

beforeEach(async () => {
  path = makeFolder().file('leagues.db');
  await placeEmpty(path);
  fresh = createCounter(MAX_ROWS);
});

const iso = (ms: number): string => new Date(ms).toISOString();

type Poll = { readonly at: number; readonly outcome?: string; readonly id?: number; readonly staleAt?: string | null };

function add(...polls: readonly Poll[]): void {
  withDatabase(path, (db) => {
    for (const { at, outcome = 'unchanged', id = null, staleAt = iso(at + STALE_AFTER) } of polls) {
      const isGood = outcome === 'unchanged';
      const ended = outcome === 'running' ? null : iso(at);
      db.prepare(
        `INSERT INTO runs (id, kind, trigger, scope, started_at, finished_at, outcome, error_kind, error_message, stale_at)
          VALUES (?, 'leagues', 'schedule', 'all', ?, ?, ?, ?, ?, ?)`,
      ).run(
        id,
        iso(at),
        ended,
        outcome,
        ...(outcome === 'failed' ? ['status', 'Status 503.'] : [null, null]),
        isGood ? staleAt : null,
      );
    }
  });
}

/** Good polls, one every ten minutes. */
const goodPolls = (from: number, to: number): readonly Poll[] =>
  Array.from({ length: Math.floor((to - from) / (10 * MINUTE)) + 1 }, (_, index) => ({
    at: from + index * 10 * MINUTE,
  }));

const readAt = (now: number) =>
  withDatabase(path, (db: Database.Database) => {
    for (;;) {
      const found = fresh(db, now);
      if (found !== undefined) return found;
    }
  });

describe('the share of the time in which the data was fresh', () => {
  it('of 24 hours is of all of them, also just after a full hour', () => {
    // Without a good poll for an hour, which begins 24 hours ago.
    add(...goodPolls(NOON - 26 * HOUR, NOON - 24 * HOUR), ...goodPolls(NOON - 23 * HOUR, NOON));
    expect(readAt(NOON + 1_000).shares[0]?.share).toBeCloseTo(1 - 45 / (24 * 60), 4);
    expect(readAt(NOON + 1_000).shares.map(({ knownMs }) => Math.round(knownMs / HOUR))).toEqual([24, 26, 26]);
  });

  it('is unknown without a poll, and 1 while good polls follow each other in time', () => {
    expect(readAt(NOON).shares.map(({ share }) => share)).toEqual([undefined, undefined, undefined]);
    expect(readAt(NOON).outages).toEqual([]);
    add(...goodPolls(NOON - 6 * HOUR, NOON));
    expect(readAt(NOON + MINUTE)).toMatchObject({ shares: [{ share: 1 }, { share: 1 }, { share: 1 }], outages: [] });
    expect(
      readAt(NOON)
        .days.map(({ share }) => share)
        .filter((share) => share !== undefined),
    ).toEqual([1]);
  });

  it('counts a time without polls from the moment at which the data became stale', () => {
    add(...goodPolls(NOON - 4 * HOUR, NOON - 2 * HOUR), { at: NOON - HOUR }, ...goodPolls(NOON, NOON + HOUR));
    const { shares, outages } = readAt(NOON + HOUR);
    // Stale for 45 minutes before 11:00, and for 45 before 12:00.
    expect(shares[0]?.share).toBeCloseTo(1 - 1.5 / 5, 9);
    expect(outages).toEqual([]);
  });

  it('is shared out between days', () => {
    const midnight = NOON + 12 * HOUR;
    add({ at: midnight - 2 * HOUR }, { at: midnight + 2 * HOUR }, { at: midnight + 2 * HOUR + 10 * MINUTE });
    const days = readAt(midnight + 2 * HOUR + 20 * MINUTE).days.slice(-2);
    expect(days.map(({ startsAt }) => iso(startsAt).slice(0, 10))).toEqual(['2026-11-20', '2026-11-21']);
    expect(days[0]?.share).toBeCloseTo(0.25 / 2, 9);
    expect(days[1]?.share).toBeCloseTo(20 / 140, 9);
  });

  it('falls while the data is stale, before the next good poll', () => {
    add({ at: NOON - HOUR }, { at: NOON - 50 * MINUTE, outcome: 'failed' });
    const { shares, outages } = readAt(NOON);
    expect(shares[0]?.share).toBeCloseTo(0.25, 9);
    expect(outages).toEqual([
      { from: NOON - 50 * MINUTE, to: null, failedPolls: 1, error: 'Status 503.', staleMs: 45 * MINUTE },
    ]);
    expect(readAt(NOON + HOUR).shares[0]?.share).toBeCloseTo(0.125, 9);
  });

  it('counts failures before the first good poll, but not the time of the first poll itself', () => {
    add({ at: NOON - 30 * MINUTE, outcome: 'interrupted' }, { at: NOON - 20 * MINUTE });
    expect(readAt(NOON - 10 * MINUTE)).toMatchObject({
      shares: [{ share: 1 }, { share: 1 }, { share: 1 }],
      outages: [],
    });
    fresh = createCounter(MAX_ROWS);
    withDatabase(path, (db) => db.exec("UPDATE runs SET outcome = 'failed', error_kind = 'status' WHERE id = 1"));
    expect(readAt(NOON - 10 * MINUTE)).toMatchObject({
      shares: [{ share: 0.5 }, { share: 0.5 }, { share: 0.5 }],
      outages: [{ from: NOON - 30 * MINUTE, to: NOON - 20 * MINUTE, failedPolls: 1, staleMs: 10 * MINUTE }],
    });
  });

  it('is the same whether the runs are read at once or one by one', () => {
    const polls = [
      ...goodPolls(NOON - 4 * HOUR, NOON - 2 * HOUR),
      { at: NOON - 100 * MINUTE, outcome: 'failed' },
      { at: NOON - 90 * MINUTE, outcome: 'interrupted' },
      ...goodPolls(NOON - 70 * MINUTE, NOON),
    ];
    for (const poll of polls) {
      add(poll);
      readAt(poll.at + MINUTE);
    }
    const oneByOne = readAt(NOON + MINUTE);
    fresh = createCounter(MAX_ROWS);
    const atOnce = readAt(NOON + MINUTE);
    expect(oneByOne.outages).toEqual(atOnce.outages);
    for (const [index, { share = -1 }] of atOnce.days.entries())
      expect(oneByOne.days[index]?.share ?? -1).toBeCloseTo(share, 9);
  });

  it('counts a running poll once it has ended', () => {
    add({ at: NOON - HOUR }, { at: NOON - 50 * MINUTE, outcome: 'running' });
    expect(readAt(NOON).shares[0]?.share).toBeCloseTo(0.25, 9);
    withDatabase(path, (db) =>
      db.exec(`UPDATE runs SET outcome = 'unchanged', finished_at = '${iso(NOON)}', stale_at = '${iso(NOON + STALE_AFTER)}'
        WHERE outcome = 'running'`),
    );
    expect(readAt(NOON).shares[0]?.share).toBeCloseTo(0.25, 9);
    expect(readAt(NOON + HOUR).shares[0]?.share).toBeCloseTo(0.25, 9);
  });

  it('knows nothing of a time whose runs were deleted, or that were written by version 0.1.0', () => {
    add({ at: NOON - 9 * HOUR }, { at: NOON - 2 * HOUR, id: 50 }, ...goodPolls(NOON - HOUR - 50 * MINUTE, NOON));
    expect(readAt(NOON).shares[0]?.share).toBe(1);
    fresh = createCounter(MAX_ROWS);
    withDatabase(path, (db) => db.exec('UPDATE runs SET stale_at = NULL WHERE id = 50'));
    expect(readAt(NOON)).toMatchObject({ shares: [{ share: 1 }, { share: 1 }, { share: 1 }], outages: [] });
  });

  it('covers a database that has not been polled for a year', () => {
    add({ at: NOON - 400 * 24 * HOUR }, { at: NOON - 30 * MINUTE }, { at: NOON - 20 * MINUTE });
    const { days } = readAt(NOON);
    expect(days.at(-2)?.share).toBe(0);
    expect(days[0]?.share).toBe(0);
    expect(days.at(-1)?.share).toBeCloseTo(25 / 720, 9);
  });
});
