import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import { setUpHeld } from '../support/held-removals.ts';
import { makeLeagues } from '../support/leagues.ts';
import { eventually, type RunningProgram } from '../support/program.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const FAILS = 500;
const ACCEPTED = 204;
/** Longer than the worker takes to look at the states again. */
const QUIET_MS = 1_300;

async function switchFault({ simulator }: SimulatedBench, name: string, isOn: boolean): Promise<void> {
  await fetch(`${simulator.url}/_faults/${name}`, { method: isOn ? 'PUT' : 'DELETE' });
}

async function startWorker(bench: SimulatedBench, { env }: Receiver): Promise<RunningProgram> {
  const worker = bench.startWorker(env);
  await worker.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
  return worker;
}

/** A worker that has told all that there is to tell. */
async function setUpTold(leagues = 2) {
  const receiver = await startReceiver();
  const bench = await setUp({ leagues: makeLeagues(leagues) });
  const worker = await startWorker(bench, receiver);
  await worker.waitForPoll('changed');
  await settle(bench, receiver, 2);
  expect(receiver.seen.map(({ type }) => type)).toEqual(['data.fresh', 'leagues.changed']);
  return { bench, receiver, worker };
}

/** Waits until this many attempts have been made and nothing is in flight. */
async function settle(bench: SimulatedBench, receiver: Receiver, attempts: number): Promise<void> {
  await receiver.waitFor(attempts);
  await eventually('nothing is in flight', () => bench.rows('SELECT 1 FROM webhook WHERE message_id IS NULL')[0]);
}

async function poll(worker: RunningProgram, { simulator }: SimulatedBench, leagues: number): Promise<void> {
  simulator.setLeagues(makeLeagues(leagues));
  worker.send('SIGHUP');
  await worker.waitForPoll();
}

/** A sync whose login is refused, or one that works again. */
async function syncRefused(bench: SimulatedBench, isRefused: boolean): Promise<void> {
  await switchFault(bench, 'login-refused', isRefused);
  expect((await bench.run(['sync'])).code).toBe(isRefused ? 77 : 0);
}

/** Expects attempts of these types after the first `count`, and no more; a repeated message counts again. */
async function expectTypes(receiver: Receiver, count: number, types: readonly string[]): Promise<void> {
  await receiver.waitFor(count + types.length);
  await rest(QUIET_MS);
  expect(receiver.seen.slice(count).map(({ type }) => type)).toEqual(types);
}

describe('what holds at the first start', () => {
  it('is not told: held removals', async () => {
    const receiver = await startReceiver();
    await startWorker(await setUpHeld(), receiver);
    await expectTypes(receiver, 0, []);
  });

  it('is not told: refused credentials; that they are accepted is', async () => {
    const receiver = await startReceiver();
    const bench = await setUp({ leagues: makeLeagues(2) });
    await syncRefused(bench, false);
    await syncRefused(bench, true);
    const worker = await startWorker(bench, receiver);
    await expectTypes(receiver, 0, []);
    await switchFault(bench, 'login-refused', false);
    worker.send('SIGHUP');
    await expectTypes(receiver, 0, ['credentials.accepted']);
  });
});

describe('a state that changed while the worker was off', () => {
  it('is told once, however often the worker starts', async () => {
    const { bench, receiver, worker } = await setUpTold();
    await worker.stop();
    await syncRefused(bench, true);
    const next = await startWorker(bench, receiver);
    await settle(bench, receiver, 3);
    await next.stop();
    await startWorker(bench, receiver);
    await expectTypes(receiver, 2, ['credentials.refused']);
  });

  it('is not told if it changed back before, even if it was tried', async () => {
    const { bench, receiver, worker } = await setUpTold();
    await worker.stop();
    await syncRefused(bench, true);
    receiver.script(FAILS);
    const next = await startWorker(bench, receiver);
    await receiver.waitFor(3);
    await next.stop();
    await syncRefused(bench, false);
    receiver.script(ACCEPTED);
    await startWorker(bench, receiver);
    await expectTypes(receiver, 2, ['credentials.refused']);
    expect(bench.rows('SELECT message_id, told_refused FROM webhook')).toEqual([{ message_id: null, told_refused: 0 }]);
  });
});

it('a state goes before pending changes, but not before a message that was tried', async () => {
  const { bench, receiver, worker } = await setUpTold();
  receiver.script(FAILS);
  await poll(worker, bench, 3);
  const [, , tried] = await receiver.waitFor(3);
  await poll(worker, bench, 4);
  await switchFault(bench, 'login-refused', true);
  await switchFault(bench, 'revoke-tokens', true);
  await poll(worker, bench, 4);
  receiver.script(ACCEPTED);
  worker.send('SIGHUP');
  // How often the first one is tried depends on when the signals come.
  const inOrder = () => [...new Map(receiver.seen.slice(2).map((message) => [message.id, message])).values()];
  await eventually('three messages arrive', () => inOrder().length === 3);
  expect(inOrder().map(({ type }) => type)).toEqual(['leagues.changed', 'credentials.refused', 'leagues.changed']);
  expect(inOrder()[0]?.id).toBe(tried?.id);
});

describe('held removals', () => {
  it('are told once, and again if more are held', async () => {
    const { bench, receiver, worker } = await setUpTold(20);
    await poll(worker, bench, 3);
    await poll(worker, bench, 3);
    await settle(bench, receiver, 3);
    await poll(worker, bench, 2);
    await settle(bench, receiver, 4);
    await worker.stop();
    await startWorker(bench, receiver);
    await expectTypes(receiver, 2, ['removals.held', 'removals.held']);
    const [first, second] = receiver.seen.slice(2).map(({ data }) => data.summary);
    expect(first).toMatch(/^The removal of 17 leagues is held/);
    expect(second).toMatch(/^The removal of 18 leagues is held/);
  });

  it('are not told if they are listed again before the message is accepted', async () => {
    const { bench, receiver, worker } = await setUpTold(20);
    receiver.script(FAILS);
    await poll(worker, bench, 3);
    await receiver.waitFor(3);
    await poll(worker, bench, 20);
    receiver.script(ACCEPTED);
    const from = receiver.seen.length;
    worker.send('SIGHUP');
    await expectTypes(receiver, from, []);
  });

  it('are told with the removals that are left if some are listed again before the message is accepted', async () => {
    const { bench, receiver, worker } = await setUpTold(20);
    receiver.script(FAILS);
    await poll(worker, bench, 3);
    await receiver.waitFor(3);
    await poll(worker, bench, 2);
    await poll(worker, bench, 3);
    receiver.script(ACCEPTED);
    worker.send('SIGHUP');
    await settle(bench, receiver, 4);
    await rest(QUIET_MS);
    expect(receiver.seen.at(-1)?.data.summary).toMatch(/^The removal of 17 leagues is held/);
  });
});
