import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dumpTables, readRows } from '../support/database.ts';
import { makeLeague } from '../support/leagues.ts';
import {
  countLeagues,
  identify,
  pollChange,
  published,
  setUpPublishing,
  startFresh,
} from '../support/publish-setup.ts';

/** All tables, except that the database notes when the copy was made, which is after that. */
const dumpCopied = (path: string) => ({ ...dumpTables(path), outputs: [] });

describe('the published copy', () => {
  it('is replaced after a poll that changed something, and stays after one that did not', async () => {
    const bench = await setUpPublishing();
    expect((await bench.run(['sync'])).code).toBe(0);
    const first = identify(bench.copy);
    const worker = await startFresh(bench);
    await pollChange(bench, worker);
    await published(bench, 2);
    const second = identify(bench.copy);
    expect(second.ino).not.toBe(first.ino);
    await worker.pollNow('unchanged');
    await worker.pollNow('unchanged');
    expect((await worker.stop()).code).toBe(0);
    expect(identify(bench.copy)).toEqual(second);
  });

  it('exists and is complete when sync and profile end', async () => {
    const bench = await setUpPublishing();
    expect((await bench.run(['sync'])).code).toBe(0);
    expect(dumpCopied(bench.copy)).toEqual(dumpCopied(bench.database));
    expect((await bench.run(['profile'])).code).toBe(0);
    expect(readRows(bench.copy, 'SELECT count(*) AS n FROM players')).toEqual([{ n: 1 }]);
    expect(dumpCopied(bench.copy)).toEqual(dumpCopied(bench.database));
    expect(readdirSync(bench.shared)).toEqual(['copy.db']);
  });
});

it('the copy of a database that was restored is replaced, as check says, and shows the restored state', async () => {
  const bench = await setUpPublishing();
  expect((await bench.run(['sync'])).code).toBe(0);
  expect((await bench.run(['backup', 'backup.db'])).code).toBe(0);
  bench.change();
  expect((await bench.run(['sync'])).code).toBe(0);
  expect([countLeagues(bench.database), countLeagues(bench.copy)]).toEqual([2, 2]);
  copyFileSync(join(bench.folder, 'backup.db'), bench.database);
  expect((await bench.run(['check'])).stdout).toMatch(/^ok {4}publish .*copy\.db is a copy/m);
  bench.simulator.setFault('not-json', true);
  const worker = bench.startWorker();
  await published(bench, 1);
  expect((await worker.stop()).code).toBe(0);
  expect(readRows(bench.copy, 'SELECT seq, at FROM league_changes')).toEqual(
    bench.rows('SELECT seq, at FROM league_changes'),
  );
});

it('a poll without changes is published if it releases held removals or finds what cannot be stored', async () => {
  const bench = await setUpPublishing();
  const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => makeLeague(id));
  const counts = 'SELECT held_removals, open_rejections FROM freshness';
  bench.simulator.setLeagues(all);
  await bench.run(['sync']);
  bench.simulator.setLeagues([]);
  await bench.run(['sync']);
  expect(readRows(bench.copy, counts)).toEqual([{ held_removals: 7, open_rejections: 0 }]);
  bench.simulator.setLeagues(all);
  expect((await bench.run(['sync'])).stdout).toContain('unchanged');
  expect(readRows(bench.copy, counts)).toEqual([{ held_removals: 0, open_rejections: 0 }]);
  bench.simulator.setLeagues([...all, { league_id: 'h' }]);
  expect((await bench.run(['sync'])).stdout).toContain('unchanged');
  expect(readRows(bench.copy, counts)).toEqual([{ held_removals: 0, open_rejections: 1 }]);
});
