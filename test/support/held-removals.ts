import { expect } from 'vitest';
import { type SimulatedBench, setUp } from './bench.ts';
import { makeLeagues } from './leagues.ts';
import { openBench } from './worker-resources.ts';

/** The league ids l4 to l6, for example. */
export function leagueIds(first: number, last: number): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `l${first + index}`);
}

/** Sets up ten leagues with seven held removals, l4 to l10. */
export async function setUpHeld(): Promise<SimulatedBench> {
  const bench = await setUp({ leagues: makeLeagues(10) });
  const folder = { file: () => bench.database };
  await using worker = await openBench({ folder, url: bench.simulator.url });
  expect((await worker.poll()).outcome).toBe('changed');
  bench.simulator.setLeagues(makeLeagues(3));
  expect((await worker.poll()).outcome).toBe('held');
  return bench;
}

/** One poll, by `sync`, of a service that lists these leagues. */
export async function poll(bench: SimulatedBench, listed: readonly unknown[], code: number): Promise<void> {
  bench.simulator.setLeagues(listed);
  expect((await bench.run(['sync'])).code).toBe(code);
}

/** The leagues with a held removal that is not accepted. */
export function waitingIn(bench: SimulatedBench): readonly unknown[] {
  return select(bench, 'held_removals WHERE accepted_at IS NULL');
}

/** The leagues with an accepted removal. */
export function acceptedIn(bench: SimulatedBench): readonly unknown[] {
  return select(bench, 'held_removals WHERE accepted_at IS NOT NULL');
}

export function removedIn(bench: SimulatedBench): readonly unknown[] {
  return select(bench, 'leagues WHERE removed_at IS NOT NULL');
}

function select(bench: SimulatedBench, from: string): readonly unknown[] {
  const rows = bench.rows(`SELECT league_id FROM ${from} ORDER BY cast(substr(league_id, 2) AS INTEGER)`);
  return rows.map(({ league_id }) => league_id);
}
