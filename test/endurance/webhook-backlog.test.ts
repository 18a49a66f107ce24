import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { makeLeagues } from '../support/leagues.ts';
import { memoryMb } from '../support/memory.ts';
import { openPort } from '../support/port.ts';
import { eventually } from '../support/program.ts';
import { expectCleanStop } from '../support/stopping.ts';
import { SECRET } from '../support/webhook-receiver.ts';

const LEAGUES = 2_000;
const POLLS = 25;
const CHANGES = LEAGUES * POLLS;
const MAX_CHANGES = 100;
const LONGEST_MS = 120_000;
/** Generous: how much a process grows by itself differs between machines. */
const MOST_GROWTH_MB = 60;

const skip = existsSync('/proc/self/status') ? false : 'memory is read from /proc, which this system has not';

type Bounds = { readonly from_seq: number; readonly to_seq: number };

/** A receiver that keeps the bounds of messages, not the messages. */
async function startReceiver() {
  const accepted: Bounds[] = [];
  let isDown = true;
  const server = createServer(async (request, response) => {
    const { type, data } = (await json(request)) as { type: string; data: Bounds };
    const { from_seq, to_seq } = data;
    if (!isDown && type === 'leagues.changed') accepted.push({ from_seq, to_seq });
    response.writeHead(isDown ? 503 : 204).end();
  });
  const { port } = await openPort(server);
  return {
    env: { LEAGUE_SYNC_WEBHOOK_URL: `http://127.0.0.1:${port}/`, LEAGUE_SYNC_WEBHOOK_SECRET: SECRET },
    accepted,
    lastSeq: () => accepted.at(-1)?.to_seq ?? 0,
    heal: () => {
      isDown = false;
    },
  };
}

it(`a receiver that was down for ${CHANGES} changes gets them in order, in small messages, from a worker that does not grow`, async ({
  skip: leaveOut,
}) => {
  if (skip !== false) return leaveOut(skip);
  const receiver = await startReceiver();
  const bench = await setUp({ leagues: makeLeagues(LEAGUES, { priority: 1 }) });
  const worker = bench.start(['run'], receiver.env);
  await worker.waitForPoll('changed');
  for (let priority = 2; priority <= POLLS; priority += 1) {
    bench.simulator.setLeagues(makeLeagues(LEAGUES, { priority }));
    worker.send('SIGHUP');
    await worker.waitForPoll('changed');
  }
  const startedMb = memoryMb(worker.pid, 'VmRSS');
  receiver.heal();
  const begun = performance.now();
  worker.send('SIGHUP');
  let most = startedMb;
  await eventually(
    'everything arrives',
    () => {
      most = Math.max(most, memoryMb(worker.pid, 'VmRSS'));
      return receiver.lastSeq() === CHANGES;
    },
    LONGEST_MS,
  );
  const seconds = (performance.now() - begun) / 1_000;
  const messages = receiver.accepted;
  console.info(
    `${messages.length} messages in ${seconds.toFixed(1)} s; resident ${startedMb.toFixed(0)} MB before, ${most.toFixed(0)} MB at most`,
  );
  let seq = 0;
  for (const { from_seq, to_seq } of messages) {
    expect(from_seq).toBe(seq + 1);
    expect(to_seq - seq).toBeLessThanOrEqual(MAX_CHANGES);
    seq = to_seq;
  }
  expect(messages).toHaveLength(CHANGES / MAX_CHANGES);
  expect(most - startedMb).toBeLessThan(MOST_GROWTH_MB);
  await expectCleanStop(bench, worker);
});
