import { expect, it } from 'vitest';
import { connectAs, createPostgres, skipWithoutPostgres } from '../../postgres/postgres.ts';
import { change, expectToFollow } from '../../postgres/worker.ts';
import { addSettings, setUp } from '../../support/bench.ts';
import { openRelay } from './half-open.ts';

skipWithoutPostgres();

const WAITING = `SELECT pid FROM pg_stat_activity
  WHERE application_name = 'league-sync' AND wait_event_type = 'Lock'`;

it('a connection over which nothing arrives any more is given up in time, and another one is used', async () => {
  const postgres = await createPostgres();
  const relay = await openRelay(postgres.port);
  const url = postgres.url.replace(`:${postgres.port}/`, `:${relay.port}/`);
  const bench = addSettings(await setUp(), { LEAGUE_SYNC_POSTGRES_URL: url });
  const worker = bench.startWorker();
  await worker.waitForPoll('changed');
  await expectToFollow(bench, postgres);
  change(bench, 5, 7);
  // The connection is cut while it waits for an answer.
  const other = await connectAs(postgres.port, postgres.name);
  await other.query('BEGIN; LOCK TABLE league_sync.mirror_state');
  worker.send('SIGHUP');
  await expect.poll(() => postgres.query(WAITING), { timeout: 20_000, interval: 50 }).toHaveLength(1);
  relay.cut();
  relay.heal('silent');
  await other.query('ROLLBACK');
  await other.end();
  const warned = () => worker.log().find(({ level }) => level === 40);
  await expect.poll(warned, { timeout: 90_000, interval: 500 }).toMatchObject({
    msg: expect.stringMatching(/cannot be used: no answer within 65 s\..+polls continue/),
  });
  await expectToFollow(bench, postgres);
  await worker.stop();
});
