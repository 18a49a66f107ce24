import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/time/clock.ts';
import { openDelivery } from '../../src/webhook/delivery.ts';
import { moveDeliveries } from '../../src/webhook/replay.ts';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import { makeLeagues } from '../support/leagues.ts';
import { eventually, type RunningProgram } from '../support/program.ts';
import type { Reply } from '../support/service.ts';
import { openTestStore } from '../support/store.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const ACCEPTED = { status: 204 };
/** Longer than the worker takes to look at the database again. */
const QUIET_MS = 1_300;

type Head = { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

/** A response that is held back until it is released. */
function holdReply() {
  const { promise, resolve } = Promise.withResolvers<Head>();
  const reply: Reply = (response) =>
    void promise.then(({ status, headers = {} }) => response.writeHead(status, headers).end());
  return { reply, release: resolve };
}

/** A worker whose first `leagues.changed`, of two changes, waits for its answer. */
async function setUpHeld() {
  const held = holdReply();
  const receiver = await startReceiver(held.reply, ACCEPTED);
  const bench = await setUp({ leagues: makeLeagues(2) });
  const worker = bench.startWorker(receiver.env);
  await worker.waitForPoll('changed');
  const [inFlight] = await receiver.waitFor(1);
  expect(inFlight).toMatchObject({ type: 'leagues.changed', data: { from_seq: 1, to_seq: 2 } });
  return { held, receiver, bench, worker, inFlight };
}

async function poll(worker: RunningProgram, { simulator }: SimulatedBench, leagues: number): Promise<void> {
  simulator.setLeagues(makeLeagues(leagues));
  await worker.pollNow('changed');
}

describe('while a message waits for its answer', () => {
  it.each([500, 204])('a replay makes new messages, and the one in flight is not tried again (%s)', async (status) => {
    const { held, receiver, bench, worker, inFlight } = await setUpHeld();
    await poll(worker, bench, 3);
    const { stdout, code } = await bench.run(['webhook', 'replay', '--since', '1']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('2 changes will be sent, from seq 2 on')]);
    held.release({ status });
    const [, again] = await receiver.waitFor(2);
    expect(again).toMatchObject({ type: 'leagues.changed', data: { from_seq: 2, to_seq: 3 } });
    expect(again?.id).not.toBe(inFlight?.id);
    await eventually('all is accepted', () => bench.rows('SELECT 1 FROM webhook WHERE accepted_seq = 3').length === 1);
    expect(receiver.seen).toHaveLength(2);
  });

  it('a replay does not undo the Retry-After of the answer, through a restart', async () => {
    const { held, receiver, bench, worker } = await setUpHeld();
    expect((await bench.run(['webhook', 'replay', '--since', '0'])).code).toBe(0);
    held.release({ status: 429, headers: { 'retry-after': '3600' } });
    await eventually('the wait is stored', () => bench.rows('SELECT 1 FROM webhook WHERE not_before IS NOT NULL')[0]);
    await rest(QUIET_MS);
    await worker.stop();
    const next = bench.startWorker(receiver.env);
    await next.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
    await rest(QUIET_MS);
    expect(receiver.seen).toHaveLength(1);
  });
});

it('a message that is given up just before it is sent is not sent', async () => {
  const { held, receiver, bench, worker } = await setUpHeld();
  await worker.stop();
  expect(bench.rows('SELECT failed_attempts FROM outputs')).toEqual([{ failed_attempts: 0 }]);
  held.release({ status: 500 });
  receiver.script(ACCEPTED);
  await using store = await openTestStore(bench.database);
  const stop = new AbortController();
  const url = new URL(receiver.url);
  let reads = 0;
  const source = () => {
    reads += 1;
    // Works at once, like a command at the same moment.
    if (reads === 2) void moveDeliveries(bench.database, 'end', { clock: systemClock, stop: stop.signal });
    return { url, keys: [Buffer.alloc(24)], proxy: undefined };
  };
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined } as never;
  const options = {
    store,
    source,
    clock: systemClock,
    isStale: () => false,
    random: () => 0,
    log,
    emit: () => undefined,
  };
  const delivery = await openDelivery(options, stop.signal);
  const delivering = delivery?.deliver(stop.signal);
  await eventually('the message is given up', () => reads === 2);
  await rest(200);
  stop.abort();
  await delivering;
  expect(receiver.seen).toHaveLength(1);
});

it('a SIGHUP during an attempt that then fails has the message tried again at once', async () => {
  const { held, receiver, worker, inFlight } = await setUpHeld();
  await worker.pollNow('unchanged');
  held.release({ status: 500 });
  // The wait after a failed attempt would last 5 s.
  await eventually('the message comes again', () => receiver.seen.length === 2, 3_000);
  expect(receiver.seen[1]?.id).toBe(inFlight?.id);
});
