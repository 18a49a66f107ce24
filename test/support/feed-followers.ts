import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import type { SimulatedBench } from './bench.ts';
import { eventually, type RunningProgram } from './program.ts';

/** Small, so that a page rarely has everything. */
const LIMIT = 7;

export type Change = { readonly seq: number };

/** Follows `/changes.json` like a program that keeps the last `next`, and asks again whenever the worker is away. */
export function followOverHttp(url: string) {
  const seen: Change[] = [];
  let refusals = 0;
  let isOver = false;
  const following = (async () => {
    for (let since = 0; !isOver; ) {
      const answer = await fetch(`${url}/changes.json?since=${since}&limit=${LIMIT}`).catch(() => undefined);
      const page = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
      if (page === undefined) refusals += 1;
      else {
        const { changes, next } = Object(page);
        seen.push(...changes);
        since = next;
      }
      if (page === undefined || Object(page).more !== true) await wait(50);
    }
  })();
  return {
    seen,
    refusals: () => refusals,
    end: () => {
      isOver = true;
      return following;
    },
  };
}

/** Follows with `changes --follow`, which is killed in each round and started again after the last change it printed. */
export function createRestartedFollower(bench: SimulatedBench) {
  const seen: Change[] = [];
  let program: RunningProgram | undefined;
  return {
    seen: () => [...seen, ...changesOf(program)],
    restart: async (): Promise<void> => {
      await program?.stop('SIGKILL');
      seen.push(...changesOf(program));
      program = bench.start(['changes', '--follow', '--json', '--since', String(seen.at(-1)?.seq ?? 0)]);
    },
  };
}

/** The last line of a killed program may be torn. */
export function changesOf(program: RunningProgram | undefined): readonly Change[] {
  return (program?.log() ?? []).map((line) => Object(line)).filter(({ seq }) => typeof seq === 'number');
}

/** Expects that each follower gets every change of the feed, once and in order; resolves with their number. */
export async function expectAllFollowed(
  bench: SimulatedBench,
  followers: Readonly<Record<string, () => readonly Change[]>>,
): Promise<number> {
  const feed = (await bench.runProcess(['changes', '--json', '--since', '0'])).stdout.trimEnd().split('\n');
  const expected = feed.map((line): Change => JSON.parse(line));
  expect(expected.map(({ seq }) => seq)).toEqual(expected.map((_, index) => index + 1));
  for (const [name, seen] of Object.entries(followers)) {
    await eventually(`${name} has every change`, () => seen().length >= expected.length);
    expect(seen(), name).toEqual(expected);
  }
  return expected.length;
}
