import { renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clearTheWay, putInTheWay } from '../support/obstacle.ts';
import { leaguesAnswer, startScriptedService } from '../support/scripted-service.ts';
import { type Bench, makeFolder, makeLeagues, openBench, readRows } from '../support/workplace.ts';

const OUTCOMES = 'SELECT id, trigger, outcome, error_kind FROM runs ORDER BY id';
const LOGINS = 'SELECT outcome, reason FROM logins ORDER BY id';
const FAILED = { trigger: 'manual', outcome: 'failed', error_kind: 'database' };
const CHANGED = { trigger: 'manual', outcome: 'changed', error_kind: null };
const UNCHANGED = { ...CHANGED, outcome: 'unchanged' };
const REFUSE = "RAISE(ABORT, 'not by me')";

async function withBench(check: (bench: Bench) => Promise<void>): Promise<void> {
  using folder = makeFolder();
  await using service = await startScriptedService();
  await using bench = await openBench({ folder, url: service.url });
  service.script('leagues', leaguesAnswer(makeLeagues(3)));
  await check(bench);
}

/** While the file is away nothing can be written, and nothing is lost to it. */
function takeAway({ path }: Bench): () => void {
  renameSync(path, `${path}.away`);
  return () => renameSync(`${path}.away`, path);
}

describe('what could not be written', () => {
  it('of a run, not even its start, is written as failed before the next run begins', async () => {
    await withBench(async (bench) => {
      const putBack = takeAway(bench);
      for (let poll = 0; poll < 2; poll += 1)
        expect(await bench.poll()).toMatchObject({ outcome: 'failed', error: { kind: 'database' } });
      putBack();
      expect(await bench.poll()).toMatchObject({ outcome: 'changed' });
      expect(bench.rows(OUTCOMES)).toEqual([
        { id: 1, ...FAILED },
        { id: 2, ...FAILED },
        { id: 3, ...CHANGED },
      ]);
      const [first] = bench.rows('SELECT * FROM runs');
      expect(first).toMatchObject({ kind: 'leagues', scope: 'all', attempts: 0 });
      expect(first?.error_message).toContain(`${bench.path} was deleted or replaced`);
      expect(String(first?.finished_at) >= String(first?.started_at)).toBe(true);
    });
  });

  it('of a run is written when the worker ends, where none follows', async () => {
    let path = '';
    using folder = makeFolder();
    await using service = await startScriptedService();
    {
      await using bench = await openBench({ folder, url: service.url });
      path = bench.path;
      const putBack = takeAway(bench);
      await bench.poll();
      putBack();
    }
    expect(readRows(path, OUTCOMES)).toEqual([{ id: 1, ...FAILED }]);
  });

  it('of a login is written before the next run', async () => {
    await withBench(async (bench) => {
      const putBack = takeAway(bench);
      await bench.place.session.token('leagues', new AbortController().signal);
      await expect.poll(() => bench.log.join('')).toContain('a login could not be recorded yet');
      putBack();
      expect(bench.rows(LOGINS)).toEqual([]);
      expect(await bench.poll()).toMatchObject({ outcome: 'changed' });
      expect(bench.rows(LOGINS)).toEqual([{ outcome: 'ok', reason: 'manual' }]);
    });
  });

  it('and rolls back the poll that would write it, as another program has it, splits no poll and is given up', async () => {
    await withBench(async (bench) => {
      putInTheWay(bench.path, { on: 'INSERT ON logins' }, "RAISE(ROLLBACK, 'not by me')");
      await bench.place.session.token('leagues', new AbortController().signal);
      await expect.poll(() => bench.log.join('')).toContain('a login could not be recorded yet');
      expect(await bench.poll()).toMatchObject({ outcome: 'failed', error: { kind: 'database' } });
      expect(bench.rows('SELECT count(*) AS n FROM leagues')).toEqual([{ n: 0 }]);
      expect(await bench.poll()).toMatchObject({ outcome: 'changed' });
      expect(bench.rows(OUTCOMES).map(({ outcome }) => outcome)).toEqual(['failed', 'changed']);
    });
  });

  it('since another program refuses it keeps no poll from being written, and waits until that one lets it', async () => {
    await withBench(async (bench) => {
      putInTheWay(bench.path, { on: 'INSERT ON logins' }, REFUSE);
      expect(await bench.poll()).toMatchObject({ outcome: 'changed' });
      await expect.poll(() => bench.log.join('')).toContain('a login could not be recorded yet');
      expect(await bench.poll()).toMatchObject({ outcome: 'unchanged' });
      expect(bench.rows(LOGINS)).toEqual([]);
      clearTheWay(bench.path);
      expect(await bench.poll()).toMatchObject({ outcome: 'unchanged' });
      expect(bench.rows(LOGINS)).toEqual([{ outcome: 'ok', reason: 'manual' }]);
      expect(bench.rows(OUTCOMES)).toEqual([CHANGED, UNCHANGED, UNCHANGED].map((run, i) => ({ id: i + 1, ...run })));
    });
  });
});
