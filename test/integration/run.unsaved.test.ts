import { renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { StatusError } from '../../src/errors.ts';
import { createRun } from '../../src/sync/run.ts';
import { createDatabaseTick } from '../../src/worker/database-tick.ts';
import { addBlockingTrigger, dropBlockingTrigger } from '../support/blocking-trigger.ts';
import { holdForWriting, readRows } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { makeLeagues } from '../support/leagues.ts';
import { createTestLog } from '../support/log-lines.ts';
import { listLeagues } from '../support/service.ts';
import { type Bench, setUpBench } from '../support/worker-resources.ts';

const OUTCOMES = 'SELECT id, outcome, error_kind FROM runs ORDER BY id';
const LOGINS = 'SELECT outcome, reason FROM logins ORDER BY id';

async function withBench(check: (bench: Bench) => Promise<void>): Promise<string> {
  await using bench = await setUpBench({ leagues: listLeagues(makeLeagues(3)) });
  await check(bench);
  return bench.path;
}

/** Moves the database away, so that nothing can be written. */
function takeAway({ path }: Bench): () => void {
  renameSync(path, `${path}.away`);
  return () => renameSync(`${path}.away`, path);
}

function addLogin({ deps: { store } }: Bench, outcome: 'refused' | 'ok'): Promise<void> {
  return store.writeLogin(() => store.logins.add({ at: '2026-07-01T12:00:00.000Z', outcome, reason: 'due' }));
}

/** A run whose start was recorded, and whose end was not. */
async function failUnwritten(bench: Bench): Promise<() => void> {
  using run = createRun(bench.deps, 'leagues', 'manual', new AbortController().signal);
  await run.begin();
  const putBack = takeAway(bench);
  await run.fail(new StatusError(false, 'The service answered with status 404.', { httpStatus: 404 }));
  return putBack;
}

describe('the end of a run that could not be written', () => {
  it('is written with the next run', async () => {
    await withBench(async (bench) => {
      (await failUnwritten(bench))();
      expect(bench.rows(OUTCOMES)).toEqual([{ id: 1, outcome: 'running', error_kind: null }]);
      expect(await bench.poll()).toMatchObject({ outcome: 'changed' });
      expect(bench.rows(OUTCOMES)).toEqual([
        { id: 1, outcome: 'failed', error_kind: 'status' },
        { id: 2, outcome: 'changed', error_kind: null },
      ]);
    });
  });

  it('is written between two runs, as soon as the database can be, of whose locks the log says nothing', async () => {
    await withBench(async (bench) => {
      const { log, lines } = createTestLog();
      const tick = createDatabaseTick(bench.deps.store, { ...bench.deps, log }, () => undefined);
      const putBack = await failUnwritten(bench);
      tick();
      putBack();
      const writer = holdForWriting(bench.path);
      tick();
      expect(bench.deps.store.writeError()).toBe(undefined);
      await expect(bench.deps.store.write(() => 0, AbortSignal.timeout(50))).rejects.toThrow('in use');
      tick();
      writer.end();
      tick();
      expect(bench.deps.store.writeError()).toBe(undefined);
      expect(lines.map(({ level }) => level)).toEqual(['warn', 'info']);
      expect(bench.rows(OUTCOMES)).toEqual([{ id: 1, outcome: 'failed', error_kind: 'status' }]);
    });
  });

  it('is written although another one could not be written either', async () => {
    await withBench(async (bench) => {
      addBlockingTrigger(bench.path, { on: 'UPDATE ON runs', when: "NEW.outcome = 'failed'" }, "RAISE(ABORT, 'no')");
      for (let run = 0; run < 2; run += 1) (await failUnwritten(bench))();
      expect(bench.rows(OUTCOMES).map(({ outcome }) => outcome)).toEqual(['running', 'running']);
      dropBlockingTrigger(bench.path);
      expect(await bench.poll()).toMatchObject({ outcome: 'changed' });
      expect(bench.rows(OUTCOMES).map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'changed']);
    });
  });

  it('is said to be missing at the end if more than a thousand were pending', async () => {
    await withBench(async ({ deps: { store } }) => {
      for (let end = 0; end < 1_001; end += 1) store.writeEndWhenPossible(() => undefined);
      await store.flush();
      expect(store.describeUnsaved()).toBe('the end of at least one run');
    });
  });

  it('is written when the worker ends, as soon as another program lets it, if no run follows', async () => {
    using folder = makeFolder();
    const path = folder.file('leagues.db');
    {
      await using bench = await setUpBench({}, { folder });
      (await failUnwritten(bench))();
      setTimeout(holdForWriting(path).end, 300);
    }
    expect(readRows(path, OUTCOMES)).toEqual([{ id: 1, outcome: 'failed', error_kind: 'status' }]);
  });

  it('keeps no later poll from being written, though the trigger of another program refuses it', async () => {
    await withBench(async (bench) => {
      (await failUnwritten(bench))();
      const end = { on: 'UPDATE ON runs', when: "NEW.outcome = 'failed' AND NEW.id = 1" };
      addBlockingTrigger(bench.path, end, "RAISE(ROLLBACK, 'not by me')");
      expect(await bench.poll()).toMatchObject({ outcome: 'changed' });
    });
  });
});

describe('what else could not be written', () => {
  it('of a run whose start was not written is only in the log', async () => {
    await withBench(async (bench) => {
      const putBack = takeAway(bench);
      expect(await bench.poll()).toMatchObject({ runId: null, outcome: 'failed', error: { kind: 'database' } });
      putBack();
      expect(await bench.poll()).toMatchObject({ runId: 1, outcome: 'changed' });
      expect(bench.rows(OUTCOMES)).toEqual([{ id: 1, outcome: 'changed', error_kind: null }]);
    });
  });

  it('of a login is said, and recorded with the next run', async () => {
    await withBench(async (bench) => {
      const putBack = takeAway(bench);
      await bench.place.session.token('leagues', new AbortController());
      await expect.poll(() => bench.log.join('')).toContain('a login (manual, ok) could not be recorded');
      putBack();
      expect(await bench.poll()).toMatchObject({ outcome: 'changed' });
      expect(bench.rows(LOGINS)).toEqual([{ outcome: 'ok', reason: 'manual' }]);
    });
  });

  it('of logins is written at once, in their order, so that the last row is the last login', async () => {
    await withBench(async (bench) => {
      addBlockingTrigger(bench.path, { on: 'INSERT ON logins' }, "RAISE(ABORT, 'no')");
      for (const outcome of ['refused', 'ok'] as const) await expect(addLogin(bench, outcome)).rejects.toThrow('no');
      expect([bench.rows(LOGINS), bench.deps.store.describeUnsaved()]).toEqual([[], 'at least one login']);
      dropBlockingTrigger(bench.path);
      bench.deps.store.recover();
      expect(bench.rows(LOGINS).map(({ outcome }) => outcome)).toEqual(['refused', 'ok']);
      const writer = holdForWriting(bench.path);
      const written = [addLogin(bench, 'refused'), addLogin(bench, 'ok')];
      writer.end();
      await Promise.race(written);
      expect(bench.rows(LOGINS)).toHaveLength(4);
    });
  });

  it('of a login that a trigger refuses keeps no later one from being the last', async () => {
    await withBench(async (bench) => {
      addBlockingTrigger(bench.path, { on: 'INSERT ON logins', when: "NEW.outcome = 'refused'" }, "RAISE(ABORT, 'no')");
      await expect(addLogin(bench, 'refused')).rejects.toThrow('no');
      await addLogin(bench, 'ok');
      dropBlockingTrigger(bench.path);
      await addLogin(bench, 'ok');
      const outcomes = bench.rows(LOGINS).map(({ outcome }) => outcome);
      expect([outcomes, bench.deps.store.describeUnsaved()]).toEqual([['ok', 'ok'], 'at least one login']);
    });
  });
});
