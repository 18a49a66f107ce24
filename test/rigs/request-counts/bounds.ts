import { expect } from 'vitest';
import { createSimulation, HOUR, MINUTE, SECOND, type Simulation, type SimulationOptions } from './counting.ts';
import { type Behaviour, healthy } from './service.ts';
import type { CountingWorker } from './worker.ts';

/** Contract, 5.1: at most four attempts, of a poll as of a login. */
export const ATTEMPTS = 4;
/** The waits between the attempts of a run (0.5, 1 and 2 s at most), the network delays, and a check of the clock. */
export const RUN_MS = 5 * SECOND;
/** Contract, 4: the secret is re-read every 10 s. */
export const SECRET_LOOK_MS = 10 * SECOND;
/** The profile poll at start, and the one at the full hour. */
export const PROFILES_AN_HOUR = 2;
/** A token with a lifetime of an hour is granted at start and renewed after 55 minutes (contract, 4). */
export const LOGINS_AN_HOUR = 2;
/** The poll at start and the scheduled ones of one hour. */
export const pollsAnHour = (everyMs: number): number => 1 + HOUR / everyMs;

/**
 * The session's renewals while there is no token: at least 0.5, 1, 2 … 64 and 128 s apart, ten in the first five
 * minutes, and 150 s apart from then on. Each is a login of up to four attempts, and so is the login of each run.
 */
export const RENEWALS_AT_FIRST = 10;
export const RENEWALS_AN_HOUR = RENEWALS_AT_FIRST + HOUR / (150 * SECOND);
export const loginsWhileDown = (everyMs: number): number =>
  ATTEMPTS * (RENEWALS_AN_HOUR + pollsAnHour(everyMs) + PROFILES_AN_HOUR);

/** Contract, 4: no hammering. Renewed after 10, 20, 40, 80, 160 s and then every 5 minutes. */
export const EXPIRED_ON_ARRIVAL_LOGINS_AN_HOUR = 1 + 5 + HOUR / (5 * MINUTE);

/** Contract, 4: after a refusal 1 min, doubling to 1 h. So tries come at 0, 1, 3, 7, 15, 31, 63 min and hourly after. */
export function triesAfterRefusal(withinMs: number): number {
  let tries = 0;
  let wait = MINUTE;
  for (let at = 0; at < withinMs; at += wait, wait = Math.min(HOUR, 2 * wait)) tries += 1;
  return tries;
}

export const SCHEDULES = [
  ['every 5 minutes', 5 * MINUTE],
  ['every minute', MINUTE],
] as const;
/** The minimum, the maximum and random jitter. */
export const JITTERS: readonly [string, SimulationOptions][] = [
  ['by chance', {}],
  ['as short as can be', { random: () => 0 }],
  ['as long as can be', { random: () => 0.999_999 }],
];

export type Scenario = Simulation & { readonly worker: CountingWorker };

/** Runs a worker with a service of this behaviour, and checks the invariants at the end. */
export async function runScenario(
  options: SimulationOptions,
  behaviour: Behaviour,
  run: (scenario: Scenario) => Promise<void>,
): Promise<void> {
  await using simulation = createSimulation(options);
  simulation.service.setBehaviour(behaviour);
  const worker = await simulation.start();
  await run({ ...simulation, worker });
  // Contract, 4: one login at a time, even with several callers.
  expect(simulation.service.loginsAtOnce()).toBe(1);
}

/** Makes the service healthy, and expects a successful poll within this time, by default one interval. */
export async function expectRecovery({ world, service, goodPolls }: Simulation, withinMs: number): Promise<void> {
  const from = world.elapsed();
  service.setBehaviour(healthy);
  await world.advance(withinMs + RUN_MS);
  expect(goodPolls().filter((at) => at > from)).not.toEqual([]);
}

/** The differences between successive times. */
export function gaps(times: readonly number[]): readonly number[] {
  return times.slice(1).map((at, index) => at - (times[index] ?? 0));
}
