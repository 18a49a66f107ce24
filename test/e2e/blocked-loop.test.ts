import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EVERY_SECOND, leagueRequests, setUp } from '../support/bench.ts';

const BLOCKER = join(import.meta.dirname, '../support/block-loop.cjs');
/** Several slots, and longer than a slot may be late. */
const BLOCKED_MS = 4_500;
const SLOT_MS = 1_000;
const POLLS_AFTER = 2;

it('a worker whose loop was blocked makes up once for the slots that it missed, and goes on in step', async () => {
  const bench = await setUp();
  const worker = bench.start(['run'], {
    LEAGUE_SYNC_SCHEDULE: EVERY_SECOND,
    NODE_OPTIONS: `--require=${BLOCKER}`,
    BLOCK_MS: String(BLOCKED_MS),
  });
  await worker.waitForPoll('changed');
  await worker.waitForPoll('unchanged');
  const before = leagueRequests(bench.simulator).length;
  const blockedAt = performance.now();
  worker.send('SIGUSR2');
  await worker.waitForLog((line) => line.kind === 'leagues' && line.trigger === 'catch-up');
  for (let more = 0; more < POLLS_AFTER; more += 1) await worker.waitForPoll('unchanged');
  const turnedMs = performance.now() - blockedAt - BLOCKED_MS;
  expect((await worker.stop()).code).toBe(0);

  // The one that made up for the rest; and at each end one that a slot may have brought at that very moment.
  expect(leagueRequests(bench.simulator).length - before).toBeLessThanOrEqual(turnedMs / SLOT_MS + 3);
  // A slot is late after two seconds, so on a busy machine another one may be; never the next one that was missed.
  const madeUp = bench.rows("SELECT started_at AS at FROM runs WHERE trigger = 'catch-up' ORDER BY id");
  const instants = madeUp.map(({ at }) => Date.parse(String(at)));
  for (const [index, at] of instants.slice(1).entries()) {
    expect(at - (instants[index] ?? 0)).toBeGreaterThan(SLOT_MS);
  }
  expect(bench.rows("SELECT id FROM runs WHERE outcome NOT IN ('changed', 'unchanged', 'interrupted')")).toEqual([]);
});
