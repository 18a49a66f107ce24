import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { countLogins, leagueRequests, setUp, setUpSynced } from '../support/bench.ts';
import { openConnection } from '../support/database.ts';
import { eventually } from '../support/program.ts';
import { serveHere } from '../support/status-server.ts';

/** How long a program keeps its read transaction open while sync waits, which sync says after two seconds. */
const READING_MS = 3_500;

// The address of the page is in use, too, which must not hide that the database is.
it.each(['run', 'sync'])('while a worker runs, %s on the same database exits 75 and names its pid', async (command) => {
  const bench = await setUp();
  const { worker, port } = await serveHere(bench);
  await worker.waitForPoll('changed');
  const { code, stderr, stdout } = await bench.run([command], { LEAGUE_SYNC_LISTEN: `127.0.0.1:${port}` });
  expect(code).toBe(75);
  expect(stderr).toMatch(new RegExp(`\\b${worker.pid}\\b`));
  expect(stderr).toContain(bench.database);
  expect(stdout).toBe('');
  expect(countLogins(bench.simulator)).toBe(1);
  expect((await worker.stop()).code).toBe(0);
});

it('sync waits for a reader of a database that was cleanly closed, whose journal it has to change', async () => {
  const bench = await setUpSynced();
  const reader = openConnection(bench.database, { readonly: true });
  reader.exec('BEGIN');
  expect(reader.prepare('SELECT count(*) AS n FROM leagues').get()).toEqual({ n: 124 });
  const sync = bench.start(['sync']);
  // Starting takes seconds on a busy machine. With the lock in its hands, sync begins to wait.
  await eventually('sync has the lock', () => existsSync(`${bench.database}.lock`));
  await new Promise((resolve) => setTimeout(resolve, READING_MS));
  expect(sync.alive()).toBe(true);
  expect(leagueRequests(bench.simulator)).toHaveLength(1);
  reader.exec('COMMIT');

  const { code, stderr } = await sync.waitForExit();
  expect(code).toBe(0);
  expect(stderr.match(/waiting up to a minute/g)).toHaveLength(1);
  expect(leagueRequests(bench.simulator)).toHaveLength(2);
  expect(bench.rows('SELECT outcome FROM runs ORDER BY id')).toEqual([
    { outcome: 'changed' },
    { outcome: 'unchanged' },
  ]);
});
