import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { DatabaseError, StoppedError } from '../../src/errors.ts';
import { withReader } from '../../src/store/connection.ts';
import { replaceCopy, tempPath } from '../../src/store/copy.ts';
import { inodeOf } from '../../src/store/database-file.ts';
import type { RunReport } from '../../src/sync/report.ts';
import { formatTimestamp } from '../../src/time/clock.ts';
import type { CopyDatabase } from '../../src/worker/copy-process.ts';
import { Publisher } from '../../src/worker/publisher.ts';
import { createTestClock } from '../support/clock.ts';
import { type Folder, makeFolder } from '../support/folder.ts';
import { ended, makeReport } from '../support/run-report.ts';
import { openTestStore } from '../support/store.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** The grace period of a copy in progress after a stop. */
const GRACE = 3 * SECOND;

function reportOf(outcome: RunReport['outcome'], kind: RunReport['kind'] = 'leagues'): RunReport {
  const wrote = outcome === 'changed' || outcome === 'held';
  return makeReport({ outcome, kind, wrote });
}

/** A publisher whose copies end when the test says so. */
async function createStage(
  folder: Folder,
  { age, changedAt, isStopped = false }: { age?: number; changedAt?: string; isStopped?: boolean } = {},
) {
  const clock = createTestClock(Date.now());
  const stop = new AbortController();
  const path = folder.file('leagues.db');
  const target = folder.file('copy.db');
  const store = await openTestStore(path, { clock, stop: stop.signal });
  await store[Symbol.asyncDispose]();
  const made = new Date(clock.now() - (age ?? 0));
  if (age !== undefined) {
    withReader(path, (db) =>
      replaceCopy(db, target, { part: tempPath(target), replaceable: 'published', isParentAlive: () => true }),
    );
    utimesSync(target, made, made);
  }
  const before = inodeOf(target);
  const log: string[] = [];
  let timers = 0;
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    timers += 1;
    await clock.sleep(ms, signal).finally(() => {
      timers -= 1;
    });
  };
  const copies: PromiseWithResolvers<void>[] = [];
  const copy: CopyDatabase = async (from, to, { keepSince, signal }) => {
    const going = Promise.withResolvers<void>();
    copies.push(going);
    signal?.addEventListener('abort', () => going.reject(signal.reason), { once: true });
    await going.promise;
    withReader(from, (db) =>
      replaceCopy(db, to, { part: tempPath(to), replaceable: 'published', keepSince, isParentAlive: () => true }),
    );
  };
  if (isStopped) stop.abort(new StoppedError());
  const publisher = new Publisher({
    path,
    changedAt,
    target,
    copy,
    clock: { ...clock, sleep },
    log: pino({ level: 'trace' }, { write: (line: string) => log.push(line) }),
    stop: stop.signal,
  });
  const settle = async (): Promise<void> => {
    // Enough turns of the event loop for the next copy to start.
    for (let turns = 0; turns < 10; turns += 1) await setImmediate();
  };
  return {
    clock,
    stop: () => stop.abort(new StoppedError()),
    target,
    publisher,
    log,
    count: () => copies.length,
    isReplaced: () => inodeOf(target) !== before,
    /** The number of pending timers. */
    timers: () => timers,
    /** Completes the copy in progress. */
    finish: async () => {
      copies.at(-1)?.resolve();
      await settle();
    },
    fail: async (message = 'The disk is full.') => {
      copies.at(-1)?.reject(new DatabaseError(message));
      await settle();
    },
    /** Advances the time, then calls the tick of the worker. */
    lookAfter: async (ms: number) => {
      await clock.advance(ms);
      publisher.refreshIfDue();
      await settle();
    },
    dispose: () => {
      let done = false;
      const ending = publisher[Symbol.asyncDispose]().then(() => {
        done = true;
      });
      return { ending, isDone: () => done, settle };
    },
  };
}

describe('the age of the copy', () => {
  it('does not matter if there is none: one is made at once', async () => {
    using folder = makeFolder();
    const { lookAfter, count, finish, target } = await createStage(folder);
    await lookAfter(0);
    expect(count()).toBe(1);
    await finish();
    expect(existsSync(target)).toBe(true);
    expect(readdirSync(folder.path).sort()).toEqual(['copy.db', 'leagues.db']);
  });

  it.each([
    ['just made', 0, HOUR],
    ['half an hour', 30 * MINUTE, 30 * MINUTE],
    ['a second short of an hour', HOUR - SECOND, SECOND],
  ])('of %s lets it stay until it is an hour old', async (_, age, rest) => {
    using folder = makeFolder();
    const { lookAfter, count, finish, isReplaced } = await createStage(folder, { age });
    await lookAfter(0);
    await finish();
    await lookAfter(rest - 1);
    expect([count(), isReplaced()]).toEqual([1, false]);
    await lookAfter(1);
    await finish();
    expect([count(), isReplaced()]).toEqual([2, true]);
  });

  it.each([
    ['more than an hour', HOUR + 1],
    ['a year', 365 * 24 * HOUR],
    ['less than nothing, by a clock that was ahead', -MINUTE],
    ['far less than nothing', -24 * HOUR],
  ])('of %s has it replaced at once', async (_, age) => {
    using folder = makeFolder();
    const { lookAfter, finish, isReplaced } = await createStage(folder, { age });
    await lookAfter(0);
    await finish();
    expect(isReplaced()).toBe(true);
  });

  it('does not matter if a run changed something after it', async () => {
    using folder = makeFolder();
    const changedAt = formatTimestamp(Date.now() - MINUTE);
    const late = await createStage(folder, { age: 2 * MINUTE, changedAt });
    await late.lookAfter(0);
    await late.finish();
    expect(late.isReplaced()).toBe(true);
    using other = makeFolder();
    const present = await createStage(other, { age: SECOND, changedAt });
    await present.lookAfter(0);
    await present.finish();
    expect(present.isReplaced()).toBe(false);
  });

  it('counts from the last copy on, hour by hour, though the wall clock steps back', async () => {
    using folder = makeFolder();
    const { lookAfter, count, finish, clock } = await createStage(folder);
    await lookAfter(0);
    await finish();
    for (const [hour, step] of [0, -24 * HOUR, -HOUR].entries()) {
      clock.step(step);
      await lookAfter(HOUR - 1);
      expect(count()).toBe(hour + 1);
      await lookAfter(1);
      expect(count()).toBe(hour + 2);
      await finish();
    }
  });

  it('is not checked while a copy is in progress, however long it takes', async () => {
    using folder = makeFolder();
    const { lookAfter, count, finish } = await createStage(folder);
    await lookAfter(0);
    await lookAfter(3 * HOUR);
    expect(count()).toBe(1);
    await finish();
    expect(count()).toBe(1);
  });
});

describe('a run', () => {
  it.each(['changed', 'held'] as const)('that ended as %s has the copy rebuilt', async (outcome) => {
    using folder = makeFolder();
    const { publisher, count, finish, target } = await createStage(folder, { age: 0 });
    const { ino } = statSync(target);
    publisher.onEvent(ended(reportOf(outcome)));
    expect(count()).toBe(1);
    await finish();
    expect(statSync(target).ino).not.toBe(ino);
  });

  it('of the profile that changed something has the copy rebuilt, too', async () => {
    using folder = makeFolder();
    const { publisher, count } = await createStage(folder, { age: 0 });
    publisher.onEvent(ended(reportOf('changed', 'profile')));
    expect(count()).toBe(1);
  });

  it.each(['unchanged', 'failed', 'interrupted'] as const)('that ended as %s does not', async (outcome) => {
    using folder = makeFolder();
    const { publisher, count } = await createStage(folder, { age: 0 });
    publisher.onEvent(ended(reportOf(outcome)));
    expect(count()).toBe(0);
  });

  it('during a copy has one more made, however many runs there are', async () => {
    using folder = makeFolder();
    const { publisher, count, finish } = await createStage(folder, { age: 0 });
    for (let runs = 0; runs < 5; runs += 1) publisher.onEvent(ended(reportOf('changed')));
    expect(count()).toBe(1);
    await finish();
    expect(count()).toBe(2);
    await finish();
    expect(count()).toBe(2);
  });

  it('puts the hourly copy off', async () => {
    using folder = makeFolder();
    const { publisher, lookAfter, count, finish } = await createStage(folder, { age: 0 });
    await lookAfter(0);
    await finish();
    await lookAfter(HOUR - 1);
    publisher.onEvent(ended(reportOf('changed')));
    await finish();
    await lookAfter(1);
    await lookAfter(HOUR - 2);
    expect(count()).toBe(2);
    await lookAfter(1);
    expect(count()).toBe(3);
  });
});

describe('a copy that fails', () => {
  it('is tried again after a minute, and every minute, until it is made', async () => {
    using folder = makeFolder();
    const { lookAfter, count, fail, finish, target } = await createStage(folder);
    await lookAfter(0);
    for (const tries of [1, 2, 3]) {
      await fail();
      await lookAfter(MINUTE - 1);
      expect(count()).toBe(tries);
      await lookAfter(1);
      expect(count()).toBe(tries + 1);
    }
    await finish();
    expect(existsSync(target)).toBe(true);
    // The file's own time is real, so it seems to be as old as the attempts took.
    await lookAfter(HOUR - 3 * MINUTE - 1);
    expect(count()).toBe(4);
  });

  it('is tried again at once if a run changes something meanwhile', async () => {
    using folder = makeFolder();
    const { publisher, lookAfter, count, fail } = await createStage(folder);
    await lookAfter(0);
    await fail();
    publisher.onEvent(ended(reportOf('changed')));
    expect(count()).toBe(2);
  });

  it('is said once for each fault, and that it is made again', async () => {
    using folder = makeFolder();
    const { lookAfter, fail, finish, log } = await createStage(folder);
    const said = (): readonly string[] =>
      log.map((line) => String(JSON.parse(line).err?.message ?? JSON.parse(line).msg));
    await lookAfter(0);
    for (const fault of ['The disk is full.', 'The disk is full.', 'The disk is broken.', 'The disk is full.']) {
      await fail(fault);
      await lookAfter(MINUTE);
    }
    await finish();
    const again = 'the published copy is made again';
    expect(said()).toEqual(['The disk is full.', 'The disk is broken.', 'The disk is full.', again]);
    await lookAfter(HOUR);
    await fail();
    expect(said().at(-1)).toBe('The disk is full.');
  });

  it('leaves the copy that is there, and the remains of an earlier one are removed before the next', async () => {
    using folder = makeFolder();
    const { publisher, fail, finish, target } = await createStage(folder, { age: 0 });
    const { ino } = statSync(target);
    publisher.onEvent(ended(reportOf('changed')));
    await fail();
    expect(statSync(target).ino).toBe(ino);
    const remains = tempPath(target);
    const longAgo = new Date(Date.now() - HOUR);
    writeFileSync(remains, 'half of a copy');
    utimesSync(remains, longAgo, longAgo);
    publisher.onEvent(ended(reportOf('changed')));
    await finish();
    expect(statSync(target).ino).not.toBe(ino);
    expect(readdirSync(folder.path).sort()).toEqual(['copy.db', 'leagues.db']);
  });
});

describe('the end', () => {
  it('without a stop waits for the copy, however long it takes', async () => {
    using folder = makeFolder();
    const { publisher, finish, dispose, clock, target } = await createStage(folder);
    publisher.onEvent(ended(reportOf('changed')));
    const { ending, isDone } = dispose();
    await clock.advance(24 * HOUR);
    expect(isDone()).toBe(false);
    await finish();
    await ending;
    expect(existsSync(target)).toBe(true);
  });

  it('after a stop waits for the copy for its grace', async () => {
    using folder = makeFolder();
    const { publisher, finish, dispose, clock, target, stop } = await createStage(folder);
    publisher.onEvent(ended(reportOf('changed')));
    stop();
    const { ending, isDone } = dispose();
    await clock.advance(GRACE - 1);
    expect(isDone()).toBe(false);
    await finish();
    await ending;
    expect(existsSync(target)).toBe(true);
  });

  it('after a stop cuts the copy short when its grace is over, and says nothing of it', async () => {
    using folder = makeFolder();
    const { publisher, dispose, clock, stop, count, log } = await createStage(folder);
    publisher.onEvent(ended(reportOf('changed')));
    publisher.onEvent(ended(reportOf('changed')));
    stop();
    const { ending } = dispose();
    await clock.advance(GRACE);
    await ending;
    expect(count()).toBe(1);
    expect(log).toEqual([]);
    expect(readdirSync(folder.path)).toEqual(['leagues.db']);
  });

  it('within its grace still makes the copy that a run during another one asked for', async () => {
    using folder = makeFolder();
    const { publisher, finish, dispose, clock, stop, count } = await createStage(folder);
    publisher.onEvent(ended(reportOf('changed')));
    publisher.onEvent(ended(reportOf('changed')));
    stop();
    const { ending } = dispose();
    await clock.advance(GRACE - 1);
    await finish();
    expect(count()).toBe(2);
    await finish();
    await ending;
  });

  it('grants its grace, too, to a copy that is asked for after the stop', async () => {
    using folder = makeFolder();
    const { publisher, clock, stop, dispose } = await createStage(folder);
    stop();
    publisher.refreshIfDue();
    const { ending, isDone } = dispose();
    await clock.advance(GRACE - 1);
    expect(isDone()).toBe(false);
    await clock.advance(1);
    await ending;
  });

  it('grants its grace, and no more, if the stop came while the worker started', async () => {
    using folder = makeFolder();
    const { publisher, clock, count, dispose } = await createStage(folder, { isStopped: true });
    publisher.refreshIfDue();
    expect(count()).toBe(1);
    const { ending, isDone } = dispose();
    await clock.advance(GRACE - 1);
    expect(isDone()).toBe(false);
    await clock.advance(1);
    expect(isDone()).toBe(true);
    await ending;
  });

  it('comes at once if nothing is under way, and leaves no timer', async () => {
    using folder = makeFolder();
    const { stop, dispose, timers } = await createStage(folder, { age: 0 });
    stop();
    expect(timers()).toBe(1);
    const { ending, settle } = dispose();
    await ending;
    await settle();
    expect(timers()).toBe(0);
  });
});
