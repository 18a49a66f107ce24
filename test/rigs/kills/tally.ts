import type { Problem } from './ledger.ts';

/** The counts of all kills so far. */
export type Tally = {
  kills: number;
  /** Kills of the process that makes the published copy. */
  copierKills: number;
  /** Programs that ended before their kill. */
  missed: number;
  /** Kills during a clean stop, between the removal of the WAL and the update of the header. */
  withoutWal: number;
  torn: number;
  lost: number;
  unclean: number;
  restarts: number;
  slowestRestartMs: number;
  /** How many applied polls, and how many versions of the published copy were seen. */
  polls: number;
  copies: number;
  readonly hits: Map<string, number>;
};

export function createTally(): Tally {
  return {
    kills: 0,
    copierKills: 0,
    missed: 0,
    withoutWal: 0,
    torn: 0,
    lost: 0,
    unclean: 0,
    restarts: 0,
    slowestRestartMs: 0,
    polls: 0,
    copies: 0,
    hits: new Map(),
  };
}

export function countHit({ hits }: Tally, hit: string): void {
  hits.set(hit, (hits.get(hit) ?? 0) + 1);
}

export function countProblems(tally: Tally, problems: readonly Problem[]): void {
  for (const is of new Set(problems.map((problem) => problem.is))) tally[is] += 1;
}

/** A summary in a few lines. */
export function describeTally(tally: Tally): string {
  const { kills, copierKills, missed, withoutWal, torn, lost, unclean, restarts, slowestRestartMs, polls, copies } =
    tally;
  const places = [...tally.hits].toSorted(([, a], [, b]) => b - a).map(([hit, count]) => `  ${count} ${hit}`);
  return [
    `${kills} kills of the worker and ${copierKills} of its copying process (${missed} came too late):`,
    ...places,
    `${withoutWal} left a database in WAL mode without its WAL;`,
    `${torn} torn, ${lost} lost, ${unclean} unclean; ${restarts} restarts, the slowest ${Math.ceil(slowestRestartMs)} ms;`,
    `${polls} applied polls, ${copies} published states`,
  ].join('\n');
}
