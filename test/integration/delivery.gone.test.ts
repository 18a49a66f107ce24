import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import { makeLeagues } from '../support/leagues.ts';
import type { Environment, RunningProgram } from '../support/program.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const GONE = { status: 410 };
/** Longer than the worker takes to look at its settings and at the database again. */
const QUIET_MS = 1_300;

/** A worker whose first message was answered with 410. */
async function setUpGone(urlFile = false) {
  const receiver = await startReceiver(GONE);
  const bench = await setUp({ leagues: makeLeagues(2) });
  const { LEAGUE_SYNC_WEBHOOK_URL: url = '', ...secret } = receiver.env;
  const file = join(bench.folder, 'url');
  if (urlFile) writeFileSync(file, url);
  const env: Environment = urlFile ? { ...secret, LEAGUE_SYNC_WEBHOOK_URL_FILE: file } : receiver.env;
  const worker = bench.startWorker(env);
  await worker.waitForPoll('changed');
  await worker.waitForLog(({ msg }) => String(msg).includes('answered 410'));
  return { receiver, bench, env, file, worker };
}

async function poll(worker: RunningProgram, { simulator }: SimulatedBench, leagues: number): Promise<void> {
  simulator.setLeagues(makeLeagues(leagues));
  worker.send('SIGHUP');
  await worker.waitForPoll('changed');
}

async function expectQuiet({ seen }: Receiver, attempts: number): Promise<void> {
  await rest(QUIET_MS);
  expect(seen).toHaveLength(attempts);
}

describe('a receiver that answers 410', () => {
  it('gets nothing more, whatever happens, also after a restart', async () => {
    const { receiver, bench, env, worker } = await setUpGone();
    await poll(worker, bench, 3);
    await expectQuiet(receiver, 1);
    expect((await worker.stop()).code).toBe(0);
    const next = bench.startWorker(env);
    await next.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
    await poll(next, bench, 4);
    await expectQuiet(receiver, 1);
    expect(bench.rows('SELECT what, count FROM attention')).toEqual([{ what: 'webhook', count: 4 }]);
  });

  it('gets everything again, with a new id, after a replay beside the worker', async () => {
    const { receiver, bench } = await setUpGone();
    receiver.script({ status: 204 });
    expect((await bench.run(['webhook', 'replay', '--since', '0'])).code).toBe(0);
    const [first, ...later] = await receiver.waitFor(3);
    expect(later.map(({ type }) => type)).toEqual(['data.fresh', 'leagues.changed']);
    expect(later.map(({ id }) => id)).not.toContain(first?.id);
  });

  it('gets only what comes then after a skip beside the worker', async () => {
    const { receiver, bench, worker } = await setUpGone();
    receiver.script({ status: 204 });
    expect((await bench.run(['webhook', 'skip'])).code).toBe(0);
    await expectQuiet(receiver, 1);
    await poll(worker, bench, 3);
    const [, later] = await receiver.waitFor(2);
    expect(later).toMatchObject({ type: 'leagues.changed', data: { from_seq: 3, to_seq: 3 } });
  });

  it.each([false, true])(
    'is left for another one, which gets the same message (URL in a file: %s)',
    async (urlFile) => {
      const { receiver, bench, env, file, worker } = await setUpGone(urlFile);
      const other = await startReceiver();
      if (urlFile) writeFileSync(file, other.url);
      else {
        await worker.stop();
        bench.startWorker({ ...env, ...other.env });
      }
      const [first] = await other.waitFor(2);
      expect(receiver.seen).toMatchObject([{ id: first?.id, body: first?.body }]);
      expect(other.seen.map(({ type }) => type)).toEqual(['data.fresh', 'leagues.changed']);
    },
  );

  it('gets nothing more if its URL is the same, but in a file', async () => {
    const { receiver, bench, env, worker } = await setUpGone(true);
    await worker.stop();
    const { LEAGUE_SYNC_WEBHOOK_URL_FILE: _, ...secret } = env;
    const next = bench.startWorker({ ...secret, LEAGUE_SYNC_WEBHOOK_URL: receiver.url });
    await next.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
    await expectQuiet(receiver, 1);
  });
});
