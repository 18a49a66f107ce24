import { beforeEach, describe, expect, it } from 'vitest';
import { findPackage } from '../../src/package.ts';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import type { RunningProgram } from '../support/program.ts';
import { askPromtool, missingPromtool } from '../support/promtool.ts';
import { type Scrape, scrape } from '../support/scrape.ts';
import { serveHere } from '../support/status-server.ts';

const PROFILE = { LEAGUE_SYNC_PROFILE_SCHEDULE: '0 0 29 2 *' };

type Stage = {
  readonly bench: SimulatedBench;
  readonly worker: RunningProgram;
  readonly url: string;
  /** Sends SIGHUP, and returns the metrics after the poll. */
  readonly afterPoll: (outcome: string) => Promise<Scrape>;
};

/** A worker on this bench. */
async function start(bench: SimulatedBench): Promise<Stage> {
  const { worker, url } = await serveHere(bench, PROFILE);
  const afterPoll = async (outcome: string): Promise<Scrape> => {
    worker.send('SIGHUP');
    await worker.waitForPoll(outcome);
    return scrape(url);
  };
  return { bench, worker, url, afterPoll };
}

/** A worker that has made its first polls, of both kinds. */
async function startPolled(bench: SimulatedBench): Promise<Stage & { readonly first: Scrape }> {
  const stage = await start(bench);
  await stage.worker.waitForLog((line) => line.kind === 'profile' && line.outcome !== undefined);
  return { ...stage, first: await scrape(stage.url) };
}

describe('the metrics of a worker', () => {
  it('say what the database says', async () => {
    const { bench, first } = await startPolled(await setUp());
    const [row] = bench.rows('SELECT live_leagues, last_success_at FROM freshness');
    const [login] = bench.rows('SELECT expires_at FROM logins');
    expect(first.value('league_sync_leagues', { state: 'live' })).toBe(row?.live_leagues);
    expect(first.value('league_sync_leagues', { state: 'removed' })).toBe(0);
    const success = first.value('league_sync_last_success_timestamp_seconds', { kind: 'leagues' }) ?? 0;
    expect(Math.abs(success * 1_000 - Date.parse(String(row?.last_success_at)))).toBeLessThan(2_000);
    expect(first.value('league_sync_token_expiry_timestamp_seconds')).toBe(
      Date.parse(String(login?.expires_at)) / 1_000,
    );
    expect(first.value('league_sync_league_changes_total', { change: 'added' })).toBe(row?.live_leagues);
    expect(first.value('league_sync_build_info', { version: findPackage().version })).toBe(1);
    expect(first.value('league_sync_database_bytes')).toBeGreaterThan(4_096);
    expect(first.value('league_sync_database_wal_bytes')).toBeGreaterThan(0);
    expect(Math.abs(first.value('league_sync_clock_skew_seconds') ?? 60)).toBeLessThan(60);
    expect(first.value('league_sync_next_slot_timestamp_seconds', { kind: 'leagues' })).toBeGreaterThan(
      Date.now() / 1_000,
    );
    expect(first.value('league_sync_logins_total', { outcome: 'ok' })).toBe(1);
    expect(first.value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
  });

  it('count what is held and what is rejected', async () => {
    const { bench, first, afterPoll } = await startPolled(await setUp());
    expect([first.value('league_sync_held_removals'), first.value('league_sync_rejected_leagues')]).toEqual([0, 0]);
    bench.simulator.setFault('empty-list', true);
    const held = await afterPoll('held');
    expect(held.value('league_sync_held_removals')).toBe(first.value('league_sync_leagues', { state: 'live' }));
    bench.simulator.setFault('empty-list', false);
    bench.simulator.setFault('bad-rows', true);
    const rejected = await afterPoll('held');
    const [row] = bench.rows('SELECT open_rejections FROM freshness');
    expect(row?.open_rejections).toBeGreaterThan(0);
    expect(rejected.value('league_sync_rejected_leagues')).toBe(row?.open_rejections);
  });
});

describe('promtool', () => {
  beforeEach(({ skip }) => {
    const why = missingPromtool();
    skip(why !== undefined, why);
  });

  it('has no complaint about the metrics', async () => {
    const { first } = await startPolled(await setUp());
    expect(askPromtool(['check', 'metrics'], first.text)).toEqual({ content: true, said: '' });
  });
});
