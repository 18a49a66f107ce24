import { existsSync, renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import { holdForWriting } from '../support/database.ts';
import { eventually, type RunningProgram } from '../support/program.ts';
import { readiness, serve, waitForReadiness } from '../support/status-server.ts';

const PUT_BACK =
  /was deleted, moved or replaced while the worker ran; nothing new is written; .*put that same file back .*\.$/;
const RESTART =
  /^The WAL .* was deleted, moved or replaced while the worker ran; nothing new is written; restart the worker/;

/** The NFL. */
const NFL = '981cfa69-3946-59e8-bc6e-e7b00f37cadc';
const ENDS = ['', '-wal', '-shm'];

function moveAway({ database }: SimulatedBench): () => void {
  const moved = ENDS.filter((end) => existsSync(database + end));
  for (const end of moved) renameSync(database + end, `${database}${end}.away`);
  return () => {
    for (const end of moved) renameSync(`${database}${end}.away`, database + end);
  };
}

/** Starts a worker that polls only on SIGHUP. */
async function start(env: Readonly<Record<string, string>> = {}) {
  const bench = await setUp();
  const { url, worker } = await serve(bench, env);
  await worker.waitForPoll('changed');
  await eventually('the login is recorded', () => bench.rows('SELECT id FROM logins').length === 1);
  const ask = async (path: string): Promise<string> => (await fetch(url + path)).text();
  return {
    bench,
    worker,
    url,
    ask,
    metric: async () => /^league_sync_not_ready\{reason="database"\} \d/m.exec(await ask('/metrics'))?.[0],
  };
}

async function pollNow(worker: RunningProgram): Promise<void> {
  worker.send('SIGHUP');
  await worker.waitForLog(({ msg }) => msg === 'SIGHUP: polling now');
}

describe('a database that is', () => {
  it.each([
    ['moved away', moveAway, 'The database is gone', PUT_BACK],
    [
      'robbed of its -shm',
      ({ database }: SimulatedBench) => {
        renameSync(`${database}-shm`, `${database}-shm.away`);
        return () => renameSync(`${database}-shm.away`, `${database}-shm`);
      },
      'The database has lost its WAL',
      RESTART,
    ],
  ] as const)(
    '%s is reported at once by page, probe, status and metrics, though no poll is near; and so is its return',
    async (_, harm, headline, message) => {
      const { bench, worker, url, ask, metric } = await start();
      const back = harm(bench);
      expect(await readiness(url)).toEqual([503, ['database']]);
      const { state, headline: said, reasons, database, stored } = JSON.parse(await ask('/status.json'));
      expect([state, said, stored]).toEqual(['bad', headline, null]);
      expect([reasons[0].message, database.fault]).toEqual([
        expect.stringMatching(message),
        expect.stringMatching(message),
      ]);
      expect(await metric()).toBe('league_sync_not_ready{reason="database"} 1');
      const page = await fetch(url);
      const text = await page.text();
      expect(page.status).toBe(503);
      expect(text).toContain(`<h1>${headline}</h1>`);
      // What was there is not told as if it were there now.
      expect(text).toMatch(/last good poll at [\d:]+ UTC .*nothing is stored until the database can be used again/);
      expect(text).not.toContain('124 leagues');
      expect(text).toContain(reasons[0].message.split(';')[0]);
      expect(text).not.toMatch(/LEAGUE_SYNC_DATABASE|Belmont/);
      for (const path of ['/leagues', '/changes', `/league?id=${NFL}`]) {
        const other = await ask(path);
        expect(other).toMatch(
          new RegExp(`data-part="strip"><b>${headline}\\.</b> The last good poll ended at [\\d:]+ UTC\\.`),
        );
        expect(other).not.toMatch(/LEAGUE_SYNC_DATABASE|Belmont|NFL/);
      }
      expect(await worker.waitForLog(({ level }) => level === 40)).toMatchObject({ msg: reasons[0].message });
      back();
      expect(await readiness(url)).toEqual([200, []]);
      expect(await metric()).toBe('league_sync_not_ready{reason="database"} 0');
      expect(await ask('/')).toContain('<h1>Up to date</h1>');
      expect(await worker.waitForLog(({ msg }) => /is back at/.test(String(msg)))).toMatchObject({ level: 30 });
      // Logged once, although it was checked repeatedly.
      expect(worker.log().filter(({ level }) => level === 40)).toHaveLength(1);
      await pollNow(worker);
      expect((await worker.waitForPoll()).outcome).toBe('unchanged');
      expect((await worker.stop()).code).toBe(0);
    },
  );
});

it('a run that cannot store its response in a locked database fails, and is recorded as soon as possible', async () => {
  const { bench, worker, url, ask } = await start({ LEAGUE_SYNC_RUN_TIMEOUT: '5s' });
  bench.simulator.setFault('slow', true);
  await pollNow(worker);
  await eventually('the run has begun', () => bench.rows("SELECT id FROM runs WHERE outcome = 'running'").length === 1);
  const writer = holdForWriting(bench.database);
  expect((await worker.waitForPoll('failed')).err).toMatchObject({ kind: 'database' });
  expect(await readiness(url)).toEqual([503, ['database']]);
  expect(await ask('/')).toContain('<h1>The database is in use by another program</h1>');
  writer.end();
  await waitForReadiness(url, []);
  expect(bench.rows('SELECT outcome, error_kind FROM runs ORDER BY id DESC LIMIT 1')).toEqual([
    { outcome: 'failed', error_kind: 'database' },
  ]);
});
