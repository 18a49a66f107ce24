import { describe, expect, it } from 'vitest';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import { type Monitoring, runIdOf, startMonitoring } from '../support/monitoring.ts';
import { eventually } from '../support/program.ts';
import { hang } from '../support/service.ts';

// Every test also fails if a stream or a file contains the check's id (test/support/secrets.ts).

const LONGEST_STOP_MS = 10_000;
/** Slow enough for the start ping to get through before the poll ends, even on a busy machine. */
const LASTING = 'slow';
const TRACE = { LEAGUE_SYNC_LOG_LEVEL: 'trace' };

type Stage = { readonly bench: SimulatedBench; readonly monitoring: Monitoring; readonly env: Record<string, string> };

async function setUpHeartbeat(): Promise<Stage> {
  const monitoring = await startMonitoring();
  const bench = await setUp();
  return { bench, monitoring, env: { ...TRACE, LEAGUE_SYNC_HEARTBEAT_URL: monitoring.url } };
}

function told({ seen }: Monitoring, count: number): Promise<unknown> {
  return eventually(`${count} messages arrive`, () => seen.length >= count);
}

it('sync reports its poll before it ends', async () => {
  const { bench, monitoring, env } = await setUpHeartbeat();
  expect((await bench.run(['sync'], env)).code).toBe(0);
  expect(monitoring.told().at(-1)).toBe('GET /');
  bench.simulator.setFault('result-fail', true);
  expect((await bench.run(['sync'], env)).code).toBe(1);
  expect(monitoring.told().at(-1)).toMatch(/^POST \/fail status: /);
});

describe('the worker with a heartbeat', () => {
  it('sends the start of a poll, its success, and the reason of a failure', async () => {
    const { bench, monitoring, env } = await setUpHeartbeat();
    const worker = bench.startWorker(env);
    await told(monitoring, 2);
    for (const fault of ['result-fail', LASTING]) bench.simulator.setFault(fault, true);
    worker.send('SIGHUP');
    await told(monitoring, 4);
    expect((await worker.stop()).code).toBe(0);

    const [error] = bench.rows("SELECT error_kind || ': ' || error_message AS said FROM runs WHERE outcome = 'failed'");
    expect(monitoring.told()).toEqual(['GET /start', 'GET /', 'GET /start', `POST /fail ${error?.said}`]);
    const ids = monitoring.seen.map(runIdOf);
    expect([ids[1], ids[3]]).toEqual([ids[0], ids[2]]);
    expect(ids[0]).not.toBe(ids[2]);
  });

  it('polls and stops as usual if the monitoring service hangs', async () => {
    const { bench, monitoring, env } = await setUpHeartbeat();
    monitoring.reply(hang());
    const worker = bench.startWorker(env);
    await worker.waitForPoll('changed');
    worker.send('SIGHUP');
    await worker.waitForPoll('unchanged');
    const askedAt = performance.now();
    expect((await worker.stop()).code).toBe(0);
    expect(performance.now() - askedAt).toBeLessThan(LONGEST_STOP_MS);
    expect(monitoring.told()).toEqual(['GET /start']);
  });
});
