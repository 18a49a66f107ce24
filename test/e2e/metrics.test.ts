import { expect, it } from 'vitest';
import { findPackage } from '../../src/package.ts';
import { setUp } from '../support/bench.ts';
import { askPromtool, missingPromtool } from '../support/promtool.ts';
import { scrape } from '../support/scrape.ts';
import { serveHere } from '../support/status-server.ts';

/** The metrics of a worker that has made its first polls, of both kinds. */
async function scrapePolled() {
  const bench = await setUp();
  const { worker, url } = await serveHere(bench, { LEAGUE_SYNC_PROFILE_SCHEDULE: '0 0 29 2 *' });
  await worker.waitForLog((line) => line.kind === 'profile' && line.outcome !== undefined);
  return { bench, ...(await scrape(url)) };
}

it('the metrics of a worker say what the database says', async () => {
  const { bench, value } = await scrapePolled();
  const [row] = bench.rows('SELECT live_leagues, last_success_at FROM freshness');
  const [login] = bench.rows('SELECT expires_at FROM logins');
  expect(value('league_sync_leagues', { state: 'live' })).toBe(row?.live_leagues);
  expect(value('league_sync_leagues', { state: 'removed' })).toBe(0);
  const success = value('league_sync_last_success_timestamp_seconds', { kind: 'leagues' }) ?? 0;
  expect(Math.abs(success * 1_000 - Date.parse(String(row?.last_success_at)))).toBeLessThan(2_000);
  expect(value('league_sync_token_expiry_timestamp_seconds')).toBe(Date.parse(String(login?.expires_at)) / 1_000);
  expect(value('league_sync_league_changes_total', { change: 'added' })).toBe(row?.live_leagues);
  expect(value('league_sync_build_info', { version: findPackage().version })).toBe(1);
  expect(value('league_sync_database_bytes')).toBeGreaterThan(4_096);
  expect(value('league_sync_database_wal_bytes')).toBeGreaterThan(0);
  expect(Math.abs(value('league_sync_clock_skew_seconds') ?? 60)).toBeLessThan(60);
  expect(value('league_sync_next_slot_timestamp_seconds', { kind: 'leagues' })).toBeGreaterThan(Date.now() / 1_000);
  expect(value('league_sync_logins_total', { outcome: 'ok' })).toBe(1);
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
});

it('promtool has no complaint about the metrics', async ({ skip }) => {
  const why = missingPromtool();
  skip(why !== undefined, why);
  const { text } = await scrapePolled();
  expect(askPromtool(['check', 'metrics'], text)).toEqual({ content: true, said: '' });
});
