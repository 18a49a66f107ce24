import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EVERY_SECOND, leagueRequests, setUp } from '../support/bench.ts';
import { eventually } from '../support/program.ts';
import { expectInOrder, LONGEST_STOP_MS } from '../support/stopping.ts';

/** A shell that redirects the streams of the program. */
function withStreams(redirection: string): readonly string[] {
  return ['sh', '-c', `exec "$@" ${redirection}`, 'sh'];
}

const OUTLETS = [
  ['without stdout', '>&-'],
  ['without stderr', '2>&-'],
  ['without any stream', '<&- >&- 2>&-'],
  ['with no room for stdout', '>/dev/full'],
  ['with no room for stdout and stderr', '>/dev/full 2>&1'],
] as const;

describe.skipIf(!existsSync('/dev/full'))('a worker', () => {
  it.each(OUTLETS)('%s keeps polling, and exits 0 when stopped', async (_, redirection) => {
    const bench = await setUp();
    const worker = bench.start(['run'], { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND }, { through: withStreams(redirection) });
    await eventually('it has polled some times', () => leagueRequests(bench.simulator).length >= 3);
    const askedAt = performance.now();
    expect(await worker.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(performance.now() - askedAt).toBeLessThan(LONGEST_STOP_MS);
    expectInOrder(bench.database);
    expect(bench.rows("SELECT outcome FROM runs WHERE outcome NOT IN ('changed', 'unchanged', 'interrupted')")).toEqual(
      [],
    );
  });
});

describe.skipIf(!existsSync('/dev/full'))('sync', () => {
  it.each([
    ['without stdout', '>&-', 0],
    ['without stderr', '2>&-', 0],
    ['without any stream', '<&- >&- 2>&-', 0],
    ['with no room for stderr, its log', '2>/dev/full', 0],
    ['with no room for stdout, its result, and stderr', '>/dev/full 2>&1', 1],
  ])('%s (%s) stores the poll and exits %i', async (_, redirection, expected) => {
    const bench = await setUp();
    const { code } = await bench.runProcess(['sync'], {}, { through: withStreams(redirection) });
    expect(code).toBe(expected);
    expectInOrder(bench.database);
    expect(bench.rows('SELECT outcome FROM runs')).toEqual([{ outcome: 'changed' }]);
  });
});
