import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DatabaseError, KilledError, RefusedError, RunError, SettingsError, StoppedError } from '../../src/errors.ts';
import { type Follower, type Output, openFollower } from '../../src/outputs/output-loop.ts';
import type { Store } from '../../src/store/store.ts';
import { recordMirror } from '../../src/store/tables/outputs.ts';
import { formatTimestamp } from '../../src/time/clock.ts';
import { createAppendOutput } from '../support/append-output.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { execute, readRows } from '../support/database.ts';
import { HOUR, MINUTE } from '../support/durations.ts';
import { type Folder, makeFolder } from '../support/folder.ts';
import { createTestLog } from '../support/log-lines.ts';
import { ended, makeReport } from '../support/run-report.ts';
import { openTestStore } from '../support/store.ts';

const CHANGED = ended(makeReport({ outcome: 'changed', wrote: true }));

let folder: Folder;
let path = '';
let store: Store;
let clock: TestClock;
let log: ReturnType<typeof createTestLog>;
let steps: (PromiseWithResolvers<string | undefined> & { readonly reach: (seq: number) => void })[];
let follower: Follower;
const stop = { signal: new AbortController(), end: new AbortController() };

/** An output whose steps end when the test says so; every hour, and after a failure in one, two, … seconds. */
function makeOutput(more: Partial<Output> = {}): Output {
  return {
    name: 'mirror',
    title: 'the mirror',
    label: () => 'db.example.com/leagues',
    everyMs: HOUR,
    recordEveryMs: 0,
    retryMs: (failures) => failures * 1_000,
    isWokenBy: (event) => event.type === 'runEnded' && event.report.wrote,
    step: (signal, reach) => {
      const step = { ...Promise.withResolvers<string | undefined>(), reach };
      steps.push(step);
      signal.addEventListener('abort', () => step.reject(signal.reason), { once: true });
      return step.promise;
    },
    ...more,
  };
}

beforeEach(async () => {
  folder = makeFolder();
  path = folder.file('leagues.db');
  clock = createTestClock(undefined, 10);
  steps = [];
  Object.assign(stop, { signal: new AbortController(), end: new AbortController() });
  store = await openTestStore(path);
});
afterEach(async () => {
  stop.signal.abort(new StoppedError());
  stop.end.abort(new StoppedError());
  await clock.advance(0);
  await store[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function start(more: Partial<Output> = {}): Promise<void> {
  log = createTestLog();
  follower = await openFollower(makeOutput(more), { store, clock, log: log.log }, stop.signal.signal);
  void follower.follow(stop.signal.signal, stop.end.signal);
  await clock.advance(0);
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
};
const succeed = async (seq?: number, note?: string): Promise<void> => {
  if (seq !== undefined) steps.at(-1)?.reach(seq);
  steps.at(-1)?.resolve(note);
  await settle();
};
const fail = async (error: unknown = new RunError('network', true, 'No route.')): Promise<void> => {
  steps.at(-1)?.reject(error);
  await settle();
};
const row = () => readRows(path, 'SELECT * FROM outputs')[0];
const said = (level: string) => log.lines.filter((line) => line.level === level).map(({ msg }) => msg);

describe('an output', () => {
  it('is brought up to date at once, then an hour after the last time began, or when it is asked for', async () => {
    await start();
    expect(steps).toHaveLength(1);
    await clock.advance(10 * MINUTE);
    await succeed(7);
    expect(row()).toMatchObject({ name: 'mirror', label: 'db.example.com/leagues', seq: 7, failed_attempts: 0 });
    expect(row()?.done_at).toBe(formatTimestamp(clock.now()));
    await clock.advance(50 * MINUTE - 1);
    expect(steps).toHaveLength(1);
    await clock.advance(1);
    expect(steps).toHaveLength(2);
    await succeed();
    follower.retryNow();
    await settle();
    expect(steps).toHaveLength(3);
  });

  it('is brought up to date once more after news that came meanwhile, however many', async () => {
    await start();
    for (let news = 0; news < 5; news += 1) follower.onEvent(CHANGED);
    follower.onEvent(ended(makeReport()));
    await succeed();
    expect(steps).toHaveLength(2);
    await succeed();
    expect(steps).toHaveLength(2);
  });

  it('has its row written while it catches up, and no more often than needed afterwards', async () => {
    await start({ recordEveryMs: HOUR, everyMs: MINUTE });
    steps[0]?.reach(5_000);
    await settle();
    expect(row()).toMatchObject({ seq: 5_000, done_at: null });
    await succeed(5_001);
    const written = store.rowsWritten();
    for (let minute = 1; minute < 60; minute += 1) {
      await clock.advance(MINUTE);
      await succeed(5_001);
    }
    expect([steps.length, store.rowsWritten()]).toEqual([60, written]);
    await clock.advance(MINUTE);
    await succeed(5_001);
    expect(store.rowsWritten()).toBe(written + 1);
  });
});

it('an output that is up to date may still lack something, which is told once', async () => {
  await start();
  for (let time = 0; time < 3; time += 1) {
    await succeed(7, 'one league is left out');
    expect(row()).toMatchObject({ failed_attempts: 0, last_error: 'one league is left out' });
    await clock.advance(HOUR);
  }
  expect(said('warn')).toEqual(['the mirror at db.example.com/leagues: one league is left out']);
  await succeed();
  expect(row()).toMatchObject({ last_error: null });
});

it('what an output lacks when it works again after failures is told as well', async () => {
  await start();
  await fail();
  await clock.advance(HOUR);
  await succeed(7, 'one league is left out');
  expect(said('warn').at(-1)).toBe('the mirror at db.example.com/leagues: one league is left out');
});

describe('an output that fails', () => {
  it('is tried again on its schedule, and its row says since when and why, until it works', async () => {
    await start();
    const since = formatTimestamp(clock.now());
    for (const seconds of [1, 2, 3]) {
      await fail();
      expect(row()).toMatchObject({
        failed_attempts: seconds,
        failing_since: since,
        last_error: 'No route.',
        next_attempt_at: formatTimestamp(clock.now() + seconds * 1_000),
        refused: 0,
      });
      await clock.advance(seconds * 1_000 - 1);
      expect(steps).toHaveLength(seconds);
      await clock.advance(1);
      expect(steps).toHaveLength(seconds + 1);
    }
    await succeed();
    const well = { failed_attempts: 0, failing_since: null, last_error: null, next_attempt_at: null };
    expect(row()).toMatchObject(well);
  });

  it('is told once for each sort of failure, though they alternate, and that it works again', async () => {
    await start();
    const faults = [new RunError('network', true, 'No route.'), new DatabaseError('Locked.', { fix: 'wait' })];
    for (let attempt = 0; attempt < 6; attempt += 1) {
      await fail(faults[attempt % 2]);
      await clock.advance(MINUTE);
    }
    await succeed();
    expect(said('warn')).toEqual([
      'No route. The next attempt is in 1 s; polls continue',
      'Locked; wait. The next attempt is in 2 s; polls continue',
    ]);
    expect(said('info')).toHaveLength(5);
    expect(said('info').at(-1)).toMatch(/^the mirror at .*leagues works again; recovered after 6 failed attempts in /);
  });

  it('is told again of an address that is new', async () => {
    let label = 'first';
    await start({ label: () => label });
    for (const next of ['first', 'second', 'second']) {
      label = next;
      await fail();
      await clock.advance(MINUTE);
    }
    expect(said('warn')).toHaveLength(2);
  });

  it('may be refused, or have an address that cannot be read', async () => {
    await start();
    await fail(new RefusedError('It belongs to another.'));
    expect(row()).toMatchObject({ refused: 1, last_error: 'It belongs to another.' });
    await clock.advance(1_000);
    await fail(new SettingsError([{ message: 'URL_FILE cannot be read', fix: 'check it' }]));
    expect(row()).toMatchObject({ refused: 0, last_error: 'URL_FILE cannot be read; check it.' });
  });

  it('is known to the next worker as failing, unless it leads elsewhere now', async () => {
    execute(
      path,
      `INSERT INTO outputs (name, label, seq, failed_attempts, failing_since, last_error)
      VALUES ('mirror', 'db.example.com/leagues', 3, 4, '2026-11-01T00:00:00.000Z', 'No route.')`,
    );
    await start();
    await fail();
    expect(row()).toMatchObject({ seq: 3, failed_attempts: 5, failing_since: '2026-11-01T00:00:00.000Z' });
    await openFollower(makeOutput({ label: () => 'other' }), { store, clock, log: log.log }, stop.signal.signal);
    expect(row()).toMatchObject({
      label: 'other',
      seq: null,
      done_at: null,
      failed_attempts: 0,
      failing_since: null,
      last_error: null,
    });
  });

  it('goes on while the database cannot be written, and its row is right as soon as that is over', async () => {
    const trigger = "CREATE TRIGGER blocked BEFORE UPDATE ON outputs BEGIN SELECT RAISE(ABORT, 'no'); END";
    await start();
    execute(path, trigger);
    await fail();
    await clock.advance(1_000);
    await fail();
    expect(row()).toMatchObject({ failed_attempts: 0 });
    execute(path, 'DROP TRIGGER blocked');
    await clock.advance(2_000);
    await fail();
    expect(row()).toMatchObject({ failed_attempts: 3 });
  });
});

it('the end of a failure that could not be written is written after the next step, however young the row is', async () => {
  await start({ recordEveryMs: 24 * HOUR });
  await fail();
  execute(path, "CREATE TRIGGER blocked BEFORE UPDATE ON outputs BEGIN SELECT RAISE(ABORT, 'no'); END");
  await clock.advance(1_000);
  await succeed();
  execute(path, 'DROP TRIGGER blocked');
  expect(row()).toMatchObject({ failed_attempts: 1 });
  await clock.advance(HOUR);
  await succeed();
  expect(row()).toMatchObject({ failed_attempts: 0, last_error: null });
});

describe('a stop', () => {
  it('ends a wait, and a step by its own signal, which is no failure', async () => {
    await start();
    await succeed(1);
    await clock.advance(HOUR);
    stop.signal.abort(new StoppedError());
    stop.end.abort(new StoppedError());
    await settle();
    expect(row()).toMatchObject({ failed_attempts: 0 });
    expect(said('warn')).toEqual([]);
    await clock.advance(24 * HOUR);
    expect(steps).toHaveLength(2);
  });

  it('lets a step end, and makes up for news that came until then, but for no others', async () => {
    await start();
    follower.onEvent(CHANGED);
    stop.signal.abort(new StoppedError());
    await succeed();
    expect(steps).toHaveLength(2);
    await succeed();
    await clock.advance(24 * HOUR);
    expect(steps).toHaveLength(2);
  });

  it('may kill the process of a step together with the worker, which is no failure, as any other kill is', async () => {
    await start();
    await fail(new KilledError('internal', false, 'Killed.'));
    await clock.advance(1_000);
    stop.signal.abort(new StoppedError());
    await fail(new KilledError('internal', false, 'Killed.'));
    expect(row()).toMatchObject({ failed_attempts: 1 });
  });
});

describe('the output that docs/architecture.md gives as an example', () => {
  it('is this one', () => {
    const [example, architecture] = ['test/support/append-output.ts', 'docs/architecture.md'].map((file) =>
      readFileSync(file, 'utf8'),
    );
    expect(architecture).toContain(example?.slice(example.indexOf('/**')));
  });

  it('appends each change, goes on where it was, and says in its row how far it is', async () => {
    const file = folder.file('changes.jsonl');
    const add = (count: number) =>
      execute(
        path,
        `WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ${count})
          INSERT INTO league_changes (run_id, at, league_id, kind, after) SELECT 1, '2026-11-01T00:00:00.000Z', value, 'added', '{}' FROM n`,
      );
    execute(
      path,
      "INSERT INTO runs (kind, trigger, scope, started_at, outcome) VALUES ('leagues', 'start', 'all', '2026-11-01T00:00:00.000Z', 'running')",
    );
    add(250);
    await start(createAppendOutput(store, file, 'mirror'));
    await settle();
    expect(row()).toMatchObject({ label: file, seq: 250 });
    add(1);
    follower.onEvent(CHANGED);
    await settle();
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual(Array.from({ length: 251 }, (_, index) => index + 1));
    expect(row()).toMatchObject({ seq: 251, failed_attempts: 0 });
  });
});

it('only the outputs that are set keep their rows, and a mirror that a command writes', () => {
  const names = () => readRows(path, 'SELECT name FROM outputs ORDER BY name').map(({ name }) => name);
  for (const name of ['webhook', 'mirror', 'copy'] as const) store.outputs.open(name, 'somewhere');
  store.outputs.keepOnly(['copy', 'mirror']);
  expect(names()).toEqual(['copy', 'mirror']);
  store.outputs.open('mirror', 'somewhere', null, 'command');
  store.outputs.keepOnly([]);
  expect(names()).toEqual(['mirror']);
  store.outputs.open('mirror', 'somewhere');
  store.outputs.keepOnly([]);
  expect(names()).toEqual([]);
});

it('the command mirror corrects the row of a worker that no longer runs', () => {
  store.outputs.open('mirror', 'elsewhere');
  store.outputs.fail('mirror', '2026-11-01T00:00:00.000Z', { last_error: 'No route.' });
  recordMirror(path, 'here', (rows) => rows.succeed('mirror', { seq: 9, done_at: '2026-11-02T00:00:00.000Z' }));
  expect(row()).toMatchObject({ label: 'here', seq: 9, failed_attempts: 0, last_error: null, fed_by: 'command' });
});
