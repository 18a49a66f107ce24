import { describe, expect, it } from 'vitest';
import { withReader } from '../../src/store/connection.ts';
import { findRange, readBatch, readFeed } from '../../src/store/queries/feed.ts';
import { followFeed } from '../../src/store/queries/follow-feed.ts';
import { runCommand } from '../support/command.ts';
import { readRows, withDatabase } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { setUpBench } from '../support/worker-resources.ts';

/** Two leagues in turn; ten changes a poll, a poll a second, from a minute before midnight. */
const CHANGES = 1_200;
const A_POLL = 10;
const FIRST_AT = Date.parse('2026-11-20T23:59:00.000Z');

const APPEND = `INSERT INTO league_changes (run_id, at, league_id, kind, before, after)
  VALUES (@run_id, @at, @league_id, 'changed', '{"city":null}', '{"league_name":"A League","city":"A City"}')`;
/** The characters of both. */
const CHARS = 55;

async function makeEmptyDatabase(): Promise<string> {
  await using bench = await setUpBench({}, { folder: makeFolder() });
  await bench.poll();
  return bench.path;
}

async function makeFeed(): Promise<string> {
  const path = await makeEmptyDatabase();
  append(path, range(1, CHANGES));
  return path;
}

function append(path: string, seqs: readonly number[], timeout = 5_000): void {
  withDatabase(
    path,
    (db) => {
      const statement = db.prepare(APPEND);
      db.transaction(() => {
        for (const seq of seqs) statement.run(describeChange(seq));
      })();
    },
    { timeout },
  );
}

function describeChange(seq: number) {
  const poll = Math.floor((seq - 1) / A_POLL);
  return { run_id: poll + 1, at: new Date(FIRST_AT + poll * 1_000).toISOString(), league_id: `l${seq % 2}` };
}

/** What the command prints, line by line. */
async function showChanges(path: string, ...args: readonly string[]): Promise<readonly string[]> {
  const env = { LEAGUE_SYNC_DATABASE: path };
  const { code, stdout } = await runCommand(['changes', ...args], { cwd: makeFolder().path, env });
  expect(code).toBe(0);
  return stdout.split('\n').slice(0, -1);
}

function seqOf(line: string): number {
  const object: unknown = JSON.parse(line);
  return typeof object === 'object' && object !== null && 'seq' in object ? Number(object.seq) : Number.NaN;
}

function range(first: number, last: number, step = 1): readonly number[] {
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step);
}

const ALL = range(1, CHANGES);
const NEWEST_50 = range(1_151, 1_200);
/** The poll at midnight and all later ones. */
const SINCE_MIDNIGHT = range(601, 1_200);
const LAST_POLL = range(1_191, 1_200);

/** Arguments and the expected changes. */
const SELECTIONS: readonly (readonly [string, readonly number[]])[] = [
  ['', NEWEST_50],
  ['--limit 7', range(1_194, 1_200)],
  ['--since 0', ALL],
  ['--since 1', range(2, 1_200)],
  ['--since 1200', []],
  ['--since 99999999999999999999', []],
  ['--since 0 --limit 3', [1, 2, 3]],
  ['--since 2026-11-20', ALL],
  ['--since 2026-11-21', SINCE_MIDNIGHT],
  ['--since 2026-11-21T00:00:00.000Z', SINCE_MIDNIGHT],
  ['--since 2026-11-21T00:00:00.001Z', range(611, 1_200)],
  ['--since 2026-11-21T00:00:59.000Z', LAST_POLL],
  ['--since 2026-11-21T00:00:59Z --limit 3', [1_191, 1_192, 1_193]],
  ['--league l1', range(1_101, 1_199, 2)],
  ['--league l0 --since 2026-11-21T00:00:59Z --limit 2', [1_192, 1_194]],
  ['--kind changed --limit 3', range(1_198, 1_200)],
  ['--kind changed --league l1 --since 1', range(3, 1_199, 2)],
  ['--kind removed', []],
];

describe('changes', () => {
  it('shows, newest last, exactly what is asked for', async () => {
    const path = await makeFeed();
    for (const [args, expected] of SELECTIONS) {
      const words = args.split(' ').filter((word) => word !== '');
      expect((await showChanges(path, ...words, '--json')).map(seqOf), args).toEqual(expected);
    }
    const lines = await showChanges(path, '--limit', '7');
    expect(lines.map((line) => Number.parseInt(line, 10))).toEqual(range(1_194, 1_200));
    expect((await showChanges(path, '--since', '1200')).join('\n')).toMatch(/^no changes/);
  });

  it('reads a duration as the time that long ago', async () => {
    const path = await makeEmptyDatabase();
    const agesMs = [49, 47, 2, 0.5].map((hours) => hours * 3_600_000);
    withDatabase(path, (db) => {
      const statement = db.prepare(APPEND);
      for (const ms of agesMs)
        statement.run({ run_id: 1, at: new Date(Date.now() - ms).toISOString(), league_id: 'l1' });
    });
    for (const [since, expected] of [
      ['2d', [2, 3, 4]],
      ['0s', []],
      ['999999999999d', [1, 2, 3, 4]],
    ] as const)
      expect((await showChanges(path, '--since', since, '--json')).map(seqOf), since).toEqual(expected);
  });

  it('says that an empty feed is empty, and prints nothing with --json', async () => {
    const path = await makeEmptyDatabase();
    for (const args of [[], ['--since', '0'], ['--since', '2026-11-20'], ['--limit', '3']]) {
      expect(await showChanges(path, ...args)).toEqual(['no changes']);
      expect(await showChanges(path, ...args, '--json')).toEqual([]);
    }
  });
});

describe('the feed', () => {
  it('is read in pages, and other programs can write between them', async () => {
    const path = await makeFeed();
    const pages: number[] = [];
    const range = withReader(path, (db) => findRange(db, { afterSeq: 0 }));
    for (const page of readFeed(path, range)) {
      pages.push(page.length);
      append(path, [CHANGES], 0);
    }
    expect(Math.max(...pages)).toBeLessThan(CHANGES / 2);
    expect(pages.reduce((sum, length) => sum + length, 0)).toBe(CHANGES);
    expect(readRows(path, 'SELECT max(seq) AS last FROM league_changes')).toEqual([{ last: CHANGES + pages.length }]);
  });

  it('is read up to the change with which a batch is large enough', async () => {
    const path = await makeFeed();
    const limits = { limit: 9, maxChars: 2 * CHARS };
    expect(withReader(path, (db) => readBatch(db, { after: 0, last: 9 }, limits)).entries).toHaveLength(2);
  });

  it('is followed from a time that it has not reached yet', async () => {
    const path = await makeFeed();
    const polls = [CHANGES + A_POLL, CHANGES + 2 * A_POLL];
    const { at } = describeChange(CHANGES + 2 * A_POLL);
    const sleep = async () => {
      expect(polls).not.toEqual([]);
      append(path, polls.splice(0, 1));
    };
    const options = { filter: {}, clock: { sleep }, stop: new AbortController().signal };
    const followed = followFeed(path, { sinceAt: at }, options);
    expect((await followed.next()).value).toMatchObject([{ at }]);
  });

  it('ends at its end when the reading began, even if it grows', async () => {
    const path = await makeFeed();
    for (const start of [{ afterSeq: 0 }, { sinceAt: '2026-11-20T00:00:00.000Z' }, { newest: CHANGES }]) {
      const last = Number(readRows(path, 'SELECT max(seq) AS last FROM league_changes')[0]?.last);
      const range = withReader(path, (db) => findRange(db, start));
      append(path, [CHANGES]);
      const entries = [...readFeed(path, range)].flat();
      expect(entries.at(-1)?.seq).toBe(last);
      expect(new Set(entries.map(({ seq }) => seq)).size).toBe(entries.length);
    }
  });

  it('has a fixed beginning as well: changes during the reading do not move it', async () => {
    const path = await makeFeed();
    const range = withReader(path, (db) => findRange(db, { newest: 3 }, { leagueId: 'l0' }));
    append(path, [2, 4, 6]);
    const entries = [...readFeed(path, range, 3)].flat();
    expect(entries.map(({ seq }) => seq)).toEqual([1_196, 1_198, 1_200]);
  });
});
