import { chmodSync, copyFileSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dumpTables, readRows } from '../support/database.ts';
import { fingerprint } from '../support/folder.ts';
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
  it('is made in a folder that was missing, and has every row that the database has', async () => {
    const bench = await setUpPublishing();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    await published(bench, 1);
    expect((await worker.stop()).code).toBe(0);
    expect(dumpCopied(bench.copy)).toEqual(dumpCopied(bench.database));
    expect(readRows(bench.copy, 'PRAGMA journal_mode')).toEqual([{ journal_mode: 'delete' }]);
    expect(readdirSync(bench.shared)).toEqual(['copy.db']);
  });

  it('is replaced after a poll that changed something, and stays after one that did not', async () => {
    const bench = await setUpPublishing();
    expect((await bench.run(['sync'])).code).toBe(0);
    const first = identify(bench.copy);
    const worker = await startFresh(bench);
    await pollChange(bench, worker);
    await published(bench, 2);
    const second = identify(bench.copy);
    expect(second.ino).not.toBe(first.ino);
    worker.send('SIGHUP');
    await worker.waitForPoll('unchanged');
    worker.send('SIGHUP');
    await worker.waitForPoll('unchanged');
    expect((await worker.stop()).code).toBe(0);
    expect(identify(bench.copy)).toEqual(second);
  });

  it('is read-only, and readable only by those who may read the database', async () => {
    const bench = await setUpPublishing();
    expect((await bench.run(['sync'], { LEAGUE_SYNC_PUBLISH: '' })).code).toBe(0);
    chmodSync(bench.database, 0o640);
    bench.change();
    expect((await bench.run(['sync'])).code).toBe(0);
    expect(lstatSync(bench.copy).mode & 0o777).toBe(0o440);
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

  it('serves status, query and changes as the database does, and stays as it is', async () => {
    const bench = await setUpPublishing();
    expect((await bench.run(['sync'])).code).toBe(0);
    bench.change();
    expect((await bench.run(['sync'])).code).toBe(0);
    const before = fingerprint(bench.shared);
    for (const args of [
      ['query', 'SELECT league_id, first_seen_at FROM leagues', '--format', 'json'],
      ['changes', '--json'],
    ]) {
      const [own, copied] = [await bench.run(args), await bench.run(args, { LEAGUE_SYNC_DATABASE: bench.copy })];
      expect([copied.code, copied.stderr]).toEqual([0, '']);
      expect(copied.stdout).toBe(own.stdout);
    }
    const { code, stdout } = await bench.run(['status'], { LEAGUE_SYNC_DATABASE: bench.copy });
    expect(code).toBe(0);
    expect(stdout).toContain('shared/copy.db');
    expect(fingerprint(bench.shared)).toEqual(before);
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

describe('a poll without any change of a league', () => {
  it('is published if it releases held removals, and if it finds leagues that cannot be stored', async () => {
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
});
