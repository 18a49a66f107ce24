import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { makeLeagues } from '../support/leagues.ts';
import { openPort } from '../support/port.ts';
import { eventually } from '../support/program.ts';
import { expectCleanStop } from '../support/stopping.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

/** Enough for a stop that waits for nothing. */
const AT_ONCE_MS = 3_000;

it.each(['SIGTERM', 'SIGINT'] as const)('a worker whose webhook hangs stops at once (%s)', async (signal) => {
  const receiver = await startReceiver(() => undefined);
  const bench = await setUp({ leagues: makeLeagues(2) });
  const worker = bench.start(['run'], receiver.env);
  await receiver.waitFor(1);
  await worker.waitForPoll('changed');
  const askedAt = performance.now();
  await expectCleanStop(bench, worker, signal);
  expect(performance.now() - askedAt).toBeLessThan(AT_ONCE_MS);
  expect(bench.rows('SELECT message_type, failed_attempts FROM webhook, outputs')).toEqual([
    { message_type: 'leagues.changed', failed_attempts: 0 },
  ]);
});

it('a worker whose webhook never finishes the TLS handshake polls, and stops at once', async () => {
  const silent = await openPort(createServer());
  const { env } = await startReceiver();
  const bench = await setUp({ leagues: makeLeagues(2) });
  const url = `https://127.0.0.1:${silent.port}/path-of-a-silent-server`;
  const worker = bench.start(['run'], { ...env, LEAGUE_SYNC_WEBHOOK_URL: url });
  await worker.waitForPoll('changed');
  await eventually('it connects', () => silent.connections() > 0);
  bench.simulator.setLeagues(makeLeagues(3));
  worker.send('SIGHUP');
  await worker.waitForPoll('changed');
  const askedAt = performance.now();
  await expectCleanStop(bench, worker);
  expect(performance.now() - askedAt).toBeLessThan(AT_ONCE_MS);
});
