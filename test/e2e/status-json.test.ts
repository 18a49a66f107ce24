import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { describeStatus } from '../../src/observe/status-json.ts';
import { setUp } from '../support/bench.ts';
import { serveHere } from '../support/status-server.ts';

const MONITORING = join(import.meta.dirname, '../../docs/monitoring/README.md');
const PATHS = '/ /changes /league?id=nothing /livez /readyz /metrics /status.json /nothing /icon-good.svg'.split(' ');

/** The fields that the page on monitoring names, in its order. */
function documented(): readonly string[] {
  const [, section = ''] = readFileSync(MONITORING, 'utf8').split('## status.json');
  const cells = (section.split('\n## ')[0] ?? '').matchAll(/^\| (`[^|]+) \|/gm);
  return [...cells].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

async function startPolled() {
  const bench = await setUp();
  const served = await serveHere(bench, { LEAGUE_SYNC_LOG_LEVEL: 'trace' });
  await served.worker.waitForPoll();
  const ask = async (): Promise<ReturnType<typeof describeStatus>> =>
    (await fetch(`${served.url}/status.json`)).json() as Promise<ReturnType<typeof describeStatus>>;
  return { ...served, simulator: bench.simulator, ask };
}

it('/status.json says what the worker knows and the database holds, in the fields that are documented', async () => {
  const { bench, simulator, ask } = await startPolled();
  const status = await ask();
  expect(Object.keys(status).sort()).toEqual(documented().toSorted());
  expect(status).toMatchObject({
    ready: true,
    service: simulator.url,
    database: { path: bench.database, fault: null },
  });
  expect(status.schedule.next_at).toMatch(/-02-29T00:00:00.000Z$/);
  const [login] = bench.rows('SELECT at, outcome, error_message, expires_at FROM logins');
  expect(status.session.token_expires_at).toBe(login?.expires_at);
  expect(status.stored?.last_login).toEqual({ at: login?.at, outcome: 'ok', error_message: null });
});

it('no response contains a secret', async () => {
  const { bench, url } = await startPolled();
  const answers = await Promise.all(PATHS.map(async (path) => (await fetch(url + path)).text()));
  expect(answers.every((answer) => answer.length > 0)).toBe(true);
  // Written to the folder because that is searched for passwords and tokens after the test.
  writeFileSync(join(bench.folder, 'answers'), answers.join('\n'));
});
