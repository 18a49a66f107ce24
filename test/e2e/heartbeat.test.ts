import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { countLogins, type SimulatedBench, setUp } from '../support/bench.ts';
import { type Monitoring, runIdOf, startMonitoring } from '../support/monitoring.ts';
import { eventually } from '../support/program.ts';
import { startProxy } from '../support/proxy.ts';
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

  it('counts a poll that holds removals as a success', async () => {
    const { bench, monitoring, env } = await setUpHeartbeat();
    const worker = bench.startWorker(env);
    await told(monitoring, 2);
    for (const fault of ['empty-list', LASTING]) bench.simulator.setFault(fault, true);
    worker.send('SIGHUP');
    await worker.waitForPoll('held');
    await told(monitoring, 4);
    expect(monitoring.told().slice(2)).toEqual(['GET /start', 'GET /']);
  });

  it('says nothing of the end of a poll that was interrupted', async () => {
    const { bench, monitoring, env } = await setUpHeartbeat();
    bench.simulator.setFault('hang', true);
    const worker = bench.startWorker(env);
    await told(monitoring, 1);
    await eventually('the login hangs', () => countLogins(bench.simulator) > 0);
    expect((await worker.stop()).code).toBe(0);
    expect(monitoring.told()).toEqual(['GET /start']);
    expect(bench.rows('SELECT outcome FROM runs')).toEqual([{ outcome: 'interrupted' }]);
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

  it('logs once that nothing listens, naming only the host', async () => {
    const { bench, env } = await setUpHeartbeat();
    const address = 'http://127.0.0.1:1/5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278';
    const worker = bench.startWorker({ ...env, LEAGUE_SYNC_HEARTBEAT_URL: address });
    await worker.waitForPoll('changed');
    for (let polls = 0; polls < 3; polls += 1) {
      worker.send('SIGHUP');
      await worker.waitForPoll('unchanged');
    }
    const { stdout } = await worker.stop();
    const said = stdout.split('\n').filter((line) => line.includes('heartbeat'));
    expect(said).toHaveLength(1);
    expect(JSON.parse(said[0] ?? '')).toMatchObject({
      level: 40,
      msg: 'the heartbeat to 127.0.0.1:1 failed (ECONNREFUSED)',
    });
  });

  it('re-reads its URL from a file for each ping, and says once if it cannot', async () => {
    const { bench, monitoring } = await setUpHeartbeat();
    const file = join(bench.folder, 'heartbeat');
    writeFileSync(file, `${monitoring.url}\n`);
    const worker = bench.startWorker({ ...TRACE, LEAGUE_SYNC_HEARTBEAT_URL_FILE: file });
    await told(monitoring, 2);
    expect(monitoring.told()).toEqual(['GET /start', 'GET /']);
    rmSync(file);
    worker.send('SIGHUP');
    const { msg } = await worker.waitForLog(({ msg }) => String(msg).startsWith('the heartbeat to '));
    await worker.waitForPoll('unchanged');
    const reason = `LEAGUE_SYNC_HEARTBEAT_URL_FILE: the file ${file} cannot be read (ENOENT)`;
    expect(msg).toBe(`the heartbeat to 127.0.0.1:${monitoring.port} failed (${reason})`);
    writeFileSync(file, `http://127.0.0.1:${monitoring.port}/another-check-4711\n`);
    worker.send('SIGHUP');
    await worker.waitForLog(({ msg }) => String(msg).includes('again'));
    expect(monitoring.seen.at(-1)?.path).toMatch(/^\/another-check-4711/);
    expect((await worker.stop()).code).toBe(0);
  });

  it.each([
    ['is not there', undefined, 'cannot be read (ENOENT)'],
    ['is empty', '\n', 'is empty'],
    ['holds no address', 'canary-uuid', 'is not a URL'],
  ])('does not start if the file of its address %s', async (_, content, said) => {
    const bench = await setUp();
    if (content !== undefined) writeFileSync(join(bench.folder, 'heartbeat'), content);
    const { code, stderr } = await bench.run(['run'], { LEAGUE_SYNC_HEARTBEAT_URL_FILE: 'heartbeat' });
    expect([code, stderr]).toEqual([78, expect.stringMatching(/LEAGUE_SYNC_HEARTBEAT_URL_FILE.* -> /)]);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('canary');
    expect(bench.simulator.requests).toEqual([]);
  });

  it('goes through the proxy that the environment names', async () => {
    const { bench, monitoring, env } = await setUpHeartbeat();
    const proxy = await startProxy(monitoring.port);
    const address = monitoring.url.replace(/127\.0\.0\.1:\d+/, 'hc.example.test');
    bench.startWorker({ ...env, LEAGUE_SYNC_HEARTBEAT_URL: address, http_proxy: proxy.url });
    await told(monitoring, 2);
    expect(monitoring.told()).toEqual(['GET /start', 'GET /']);
  });
});
