import { expect } from 'vitest';
import { addSettings, type SimulatedBench, setUp } from '../support/bench.ts';
import { ALL_RELATIONS, expectMirrored } from './compare.ts';
import type { Postgres } from './postgres.ts';

/** Starts are slow on a busy machine. */
const SLOW = { interval: 20, timeout: 20_000 };

export async function setUpMirrored({ url }: Pick<Postgres, 'url'>): Promise<SimulatedBench> {
  return addSettings(await setUp(), { LEAGUE_SYNC_POSTGRES_URL: url });
}

/** Gives the first leagues of the service another priority. */
export function change({ simulator }: SimulatedBench, count: number, priority: number): void {
  const leagues = simulator.leagues() as readonly Readonly<Record<string, unknown>>[];
  simulator.setLeagues(leagues.map((league, index) => (index < count ? { ...league, priority } : league)));
}

export function lastSeq({ rows }: SimulatedBench): number {
  return Number(rows('SELECT max(seq) AS seq FROM league_changes')[0]?.seq);
}

/** The last change of the mirror; 0 if there is no mirror. */
export async function mirroredSeq({ query }: Postgres): Promise<number> {
  const rows = await query('SELECT seq FROM league_sync.mirror_state').catch(() => []);
  return Number(rows[0]?.seq ?? 0);
}

/** Waits until the mirror has all changes of the file, and compares, by default everything. */
export async function expectToFollow(
  bench: SimulatedBench,
  postgres: Postgres,
  patience = SLOW,
  relations = ALL_RELATIONS,
): Promise<void> {
  // A poll may have changes while this waits.
  await expect.poll(async () => lastSeq(bench) - (await mirroredSeq(postgres)), patience).toBe(0);
  await expect
    .poll(() => expectMirrored(bench.database, postgres.query, { relations }).then(() => 'equal', String), patience)
    .toBe('equal');
}
