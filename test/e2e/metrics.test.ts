import { beforeEach, describe, expect, it } from 'vitest';
import { findPackage } from '../../src/package.ts';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import type { RunningProgram } from '../support/program.ts';
import { askPromtool, missingPromtool } from '../support/promtool.ts';
import { type Sample, type Scrape, scrape } from '../support/scrape.ts';
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

  it('count every run by its outcome, beginning with 0 for each', async () => {
    const { bench, first, afterPoll } = await startPolled(await setUp());
    const counted = (found: Scrape) => countsOf(found, 'league_sync_runs_total');
    expect(counted(first)).toEqual({
      'leagues changed': 1,
      'leagues unchanged': 0,
      'leagues held': 0,
      'leagues failed': 0,
      'leagues interrupted': 0,
      'profile changed': 1,
      'profile unchanged': 0,
      'profile held': 0,
      'profile failed': 0,
      'profile interrupted': 0,
    });
    await afterPoll('unchanged');
    bench.simulator.setFault('not-json', true);
    await afterPoll('failed');
    const failed = await afterPoll('failed');
    expect(counted(failed)).toEqual({ ...counted(first), 'leagues unchanged': 1, 'leagues failed': 2 });
    expect(failed.value('league_sync_consecutive_failures')).toBe(2);
    expect(failed.value('league_sync_run_failures_total', { kind: 'leagues', error_kind: 'contract' })).toBe(2);
    expect(failed.value('league_sync_run_duration_seconds_count', { kind: 'leagues' })).toBe(4);
    bench.simulator.setFault('not-json', false);
    expect((await afterPoll('unchanged')).value('league_sync_consecutive_failures')).toBe(0);
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

  it('say why the worker is not ready, and no expiry of a token that is not there', async () => {
    const { worker, url } = await start(await setUp({ faults: ['login-refused'] }));
    await worker.waitForPoll('failed');
    const refused = await scrape(url);
    expect(countsOf(refused, 'league_sync_not_ready')).toEqual({
      starting: 0,
      'no-good-poll': 1,
      stale: 0,
      'credentials-refused': 1,
      database: 0,
    });
    expect(refused.value('league_sync_logins_total', { outcome: 'refused' })).toBe(1);
    expect(refused.text).toContain('# TYPE league_sync_token_expiry_timestamp_seconds gauge');
    expect(refused.value('league_sync_token_expiry_timestamp_seconds')).toBeUndefined();
    expect(refused.value('league_sync_last_success_timestamp_seconds', { kind: 'leagues' })).toBeUndefined();
  });

  it('start from zero with the process, except for what the database knows', async () => {
    const bench = await setUp();
    const { first, worker, afterPoll } = await startPolled(bench);
    bench.simulator.setFault('not-json', true);
    await afterPoll('failed');
    await worker.stop();
    bench.simulator.setFault('not-json', false);
    bench.simulator.setFault('hang', true);
    const second = await start(bench);
    await second.worker.waitForLog((line) => String(line.msg).startsWith('worker started'));
    const restarted = await scrape(second.url);
    expect(restarted.value('league_sync_runs_total', { kind: 'leagues', outcome: 'changed' })).toBe(0);
    expect(restarted.value('league_sync_consecutive_failures')).toBe(1);
    for (const kind of ['leagues', 'profile']) {
      const [before, after] = [first, restarted].map((found) =>
        found.value('league_sync_last_success_timestamp_seconds', { kind }),
      );
      expect(Math.abs((before ?? 0) - (after ?? 0))).toBeLessThan(2);
    }
  });

  it('are there for HEAD as well', async () => {
    const { url } = await start(await setUp());
    const answer = await fetch(`${url}/metrics`, { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await answer.text()).toBe('');
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

/** The series of a metric, each by the values of its labels. */
function countsOf({ samples }: Scrape, name: string): Readonly<Record<string, number>> {
  const found = samples.filter((sample: Sample) => sample.name === name);
  return Object.fromEntries(found.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
}
