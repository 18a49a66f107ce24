import { expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { withDatabase } from '../support/database.ts';
import { serveHere } from '../support/status-server.ts';

it('every view counts the same rejections and held removals, also what another process changes', async () => {
  const bench = await setUp();
  const { worker, url } = await serveHere(bench);
  await worker.waitForPoll('changed');
  for (const fault of ['drop-third', 'bad-rows'] as const) bench.simulator.setFault(fault, true);
  worker.send('SIGHUP');
  const { rejected, held } = await worker.waitForPoll('held');
  const views = async () => {
    const status = JSON.parse((await bench.run(['status', '--json'])).stdout);
    const served = JSON.parse(await (await fetch(`${url}/status.json`)).text());
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const page = await (await fetch(url)).text();
    const metric = (name: string) => Number(new RegExp(`^league_sync_${name} (\\d+)$`, 'm').exec(metrics)?.[1]);
    const first = (pattern: RegExp) => Number(pattern.exec(page)?.[1] ?? 0);
    return [
      ['status', status.freshness.open_rejections, status.freshness.held_removals],
      ['status, rows', status.freshness.open_rejections, status.held_removals.length],
      ['status.json', served.stored.freshness.open_rejections, served.stored.freshness.held_removals],
      ['metrics', metric('rejected_leagues'), metric('held_removals')],
      // The headline names only the worst.
      ['headline', served.stored.freshness.open_rejections, first(/<h1>.*?(\d+) removals? /)],
      ['attention', first(/(\d+) list elements? cannot be stored[,:]/), first(/The removal of (\d+) leagues? is held/)],
      ['sections', first(/(\d+) elements? of the last list/), first(/<\/span> (\d+) removals?</)],
    ];
  };
  const names = (await views()).map(([name]) => name);
  expect(await views()).toEqual(names.map((name) => [name, rejected, held]));
  expect(bench.rows('SELECT rejected, held FROM runs ORDER BY id DESC LIMIT 1')).toEqual([{ rejected, held }]);
  const rows = bench.rows('SELECT * FROM attention');
  expect(rows.map(({ what }) => what)).toEqual(['held-removals', 'rejected-leagues', 'drift']);
  expect(JSON.parse(await (await fetch(`${url}/status.json`)).text()).attention).toEqual(rows);
  const page = await (await fetch(url)).text();
  const { stdout } = await bench.run(['check']);
  expect(stdout).toContain('attention   3 findings -> see league-sync status');
  // The page has other words for drift.
  for (const { summary } of rows.slice(0, 2)) expect(page).toContain(String(summary));
  expect(stdout).toContain(`${rejected} cannot be stored`);
  withDatabase(bench.database, (db) => {
    db.exec(`UPDATE rejected_leagues SET resolved_at = first_seen_at WHERE id > 1;
      DELETE FROM held_removals WHERE league_id IN (SELECT league_id FROM held_removals LIMIT 1)`);
  });
  expect(await views()).toEqual(names.map((name) => [name, 1, Number(held) - 1]));
});
