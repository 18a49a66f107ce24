import { describe, expect, it } from 'vitest';
import { leagueRequests, type SimulatedBench, setUp } from '../support/bench.ts';
import { addBlockingTrigger, dropBlockingTrigger, ENDLESS } from '../support/blocking-trigger.ts';
import { dumpTables, isWritten, type Row, readRows } from '../support/database.ts';
import { makeLeague } from '../support/leagues.ts';
import { eventually, type RunningProgram } from '../support/program.ts';

const BAD = [makeLeague('bad', { priority: 'high' })];
const ODD = [makeLeague('odd', { nickname: 'a new field' })];
const LISTED = 125;
const HELD = 42;
/** A port that nothing listens on. */
const UNREACHABLE = 'http://127.0.0.1:1';

type Sent = Readonly<Record<string, unknown>>;

/** A database with rows in every table of leagues, and a service whose list changes all of them. */
async function setUpHistory(): Promise<SimulatedBench> {
  const bench = await setUp();
  const leagues = [...bench.simulator.leagues(), ...ODD] as readonly Sent[];
  bench.simulator.setLeagues([...BAD, ...leagues]);
  expect((await bench.run(['sync'])).code).toBe(0);
  bench.simulator.setFault('drop-third', true);
  expect((await bench.run(['sync'])).code).toBe(3);
  bench.simulator.setFault('drop-third', false);
  bench.simulator.setLeagues(leagues.map((league) => ({ ...league, sport: 'chess', motto: 'another new field' })));
  const { leagues: rows, league_changes, rejected_leagues, held_removals, drift } = stored(bench);
  const counts = [rows, league_changes, rejected_leagues, held_removals].map((table) => table?.length);
  expect(counts).toEqual([LISTED, LISTED, BAD.length, HELD]);
  expect(drift).not.toEqual([]);
  return bench;
}

/** Every table except those of runs and logins. */
function stored({ database }: SimulatedBench): Readonly<Record<string, readonly Row[]>> {
  const { runs: _runs, logins: _logins, ...tables } = dumpTables(database);
  return tables;
}

function outcomes({ rows }: SimulatedBench): readonly Row[] {
  return rows('SELECT outcome, error_kind FROM runs WHERE id > 2 ORDER BY id');
}

/** Starts a worker that has its token; it does not poll at its start, since the last good poll was a moment ago. */
async function startIdle(bench: SimulatedBench): Promise<RunningProgram> {
  const worker = bench.start(['run']);
  await worker.waitForLog((line) => /no poll at start/.test(String(line.msg)));
  await eventually('its login is recorded', () => bench.rows('SELECT id FROM logins').length === 3);
  return worker;
}

async function waitWithinRequest({ simulator }: SimulatedBench, worker: RunningProgram): Promise<void> {
  const before = leagueRequests(simulator).length;
  simulator.setFault('hang', true);
  worker.send('SIGHUP');
  await eventually('the request hangs', () => leagueRequests(simulator).length > before);
  simulator.setFault('hang', false);
}

async function waitWithinTransaction({ database, simulator }: SimulatedBench, worker: RunningProgram): Promise<void> {
  addBlockingTrigger(database, { on: 'INSERT ON league_changes', when: "NEW.league_id = 'odd'" }, ENDLESS);
  const before = leagueRequests(simulator).length;
  worker.send('SIGHUP');
  await eventually('the request is answered', () => leagueRequests(simulator)[before]?.status === 200);
  await eventually('the poll is being applied', () => isWritten(database));
}

/** Expects that the next poll catches up. */
async function expectNext(bench: SimulatedBench): Promise<void> {
  expect((await bench.run(['sync'])).code).toBe(0);
  expect(readRows(bench.database, 'SELECT changed, unchanged FROM runs ORDER BY id DESC LIMIT 1')).toEqual([
    { changed: LISTED, unchanged: 0 },
  ]);
  expect(readRows(bench.database, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
}

describe('a poll leaves no trace but its row, and the next one makes up for it,', () => {
  it('when nothing listens', async () => {
    const bench = await setUpHistory();
    const before = stored(bench);
    const elsewhere = { LEAGUE_SYNC_BASE_URL: UNREACHABLE };
    expect((await bench.run(['sync', '--service-moved'], elsewhere)).code).toBe(1);
    expect(stored(bench)).toEqual(before);
    expect(outcomes(bench)).toEqual([{ outcome: 'failed', error_kind: 'network' }]);
    await expectNext(bench);
  });

  it('when the worker is stopped within the request', async () => {
    const bench = await setUpHistory();
    const before = stored(bench);
    const worker = await startIdle(bench);
    await waitWithinRequest(bench, worker);
    expect((await worker.stop()).code).toBe(0);
    expect(stored(bench)).toEqual(before);
    expect(outcomes(bench)).toEqual([{ outcome: 'interrupted', error_kind: null }]);
    await expectNext(bench);
  });

  it.each([
    ['the request', waitWithinRequest],
    ['the transaction that applies it', waitWithinTransaction],
  ])('where the worker is killed within %s', async (_, wait) => {
    const bench = await setUpHistory();
    const before = stored(bench);
    const worker = await startIdle(bench);
    await wait(bench, worker);
    expect((await worker.stop('SIGKILL')).signal).toBe('SIGKILL');
    expect(stored(bench)).toEqual(before);
    expect(outcomes(bench)).toEqual([{ outcome: 'running', error_kind: null }]);
    if (wait === waitWithinTransaction) dropBlockingTrigger(bench.database);
    await expectNext(bench);
    expect(outcomes(bench)).toEqual([
      { outcome: 'interrupted', error_kind: null },
      { outcome: 'changed', error_kind: null },
    ]);
  });

  it('when SQLite fails at the last league and the worker stays up', async () => {
    const bench = await setUpHistory();
    const before = stored(bench);
    const worker = await startIdle(bench);
    const occasion = { on: 'INSERT ON league_changes', when: "NEW.league_id = 'odd'" };
    addBlockingTrigger(bench.database, occasion, "RAISE(ABORT, 'in the way')");
    worker.send('SIGHUP');
    await worker.waitForPoll('failed');
    expect(stored(bench)).toEqual(before);
    dropBlockingTrigger(bench.database);
    worker.send('SIGHUP');
    await worker.waitForPoll('changed');
    expect(outcomes(bench)).toEqual([
      { outcome: 'failed', error_kind: 'database' },
      { outcome: 'changed', error_kind: null },
    ]);
    expect((await worker.stop()).code).toBe(0);
    expect(bench.rows("SELECT count(*) AS n FROM leagues WHERE sport = 'chess'")).toEqual([{ n: LISTED }]);
  });
});
