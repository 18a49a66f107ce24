import { expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { eventually } from '../support/program.ts';
import { startService } from '../support/service.ts';

// Every test also fails if a stream or a file contains the check's id (test/support/secrets.ts).

/** Slow enough for the start ping to get through before the poll ends, even on a busy machine. */
const LASTING = 'slow';
const TRACE = { LEAGUE_SYNC_LOG_LEVEL: 'trace' };

/** The secret part of the address, as healthchecks.io hands it out. */
const CHECK_ID = '5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278';

async function setUpHeartbeat() {
  const { url, requests } = await startService({ other: { body: 'OK' } });
  const bench = await setUp();
  const pathOf = (path: string): string => new URL(path, url).pathname.replace(`/${CHECK_ID}`, '') || '/';
  return {
    bench,
    env: { ...TRACE, LEAGUE_SYNC_HEARTBEAT_URL: `${url}/${CHECK_ID}` },
    /** Method, path without the check's id, and body of each request, oldest first. */
    told: () => requests.map(({ method, path, body }) => `${method} ${pathOf(path)} ${body}`.trim()),
  };
}

it('sync reports its poll before it ends', async () => {
  const { bench, told, env } = await setUpHeartbeat();
  expect((await bench.run(['sync'], env)).code).toBe(0);
  expect(told().at(-1)).toBe('GET /');
  bench.simulator.setFault('result-fail', true);
  expect((await bench.run(['sync'], env)).code).toBe(1);
  expect(told().at(-1)).toMatch(/^POST \/fail status: /);
});

it('the worker sends the start of a poll, its success, and the reason of a failure', async () => {
  const { bench, told, env } = await setUpHeartbeat();
  const worker = bench.startWorker(env);
  await eventually('two messages arrive', () => told().length >= 2);
  for (const fault of ['result-fail', LASTING]) bench.simulator.setFault(fault, true);
  worker.send('SIGHUP');
  await eventually('two more arrive', () => told().length >= 4);
  expect((await worker.stop()).code).toBe(0);

  const [error] = bench.rows("SELECT error_kind || ': ' || error_message AS said FROM runs WHERE outcome = 'failed'");
  expect(told()).toEqual(['GET /start', 'GET /', 'GET /start', `POST /fail ${error?.said}`]);
});
