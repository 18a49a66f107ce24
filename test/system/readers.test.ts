import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import { eventually, type RunningProgram } from '../support/program.ts';
import { OUTSIDERS, type ReadOnlyClient } from '../support/read-only-client.ts';

const LEAGUES = 124;
const CHANGING_POLLS = 5;
const RESTARTS = 2;

/** The timestamp of all leagues, and that of the last poll that changed them; they must be equal. */
const VERSION = `SELECT count(*) AS leagues, min(changed_at) AS oldest, max(changed_at) AS newest,
  (SELECT finished_at FROM runs WHERE outcome = 'changed' ORDER BY id DESC LIMIT 1) AS polled FROM leagues`;

type Listed = { readonly league_id: string; readonly league_name: string };

/** A bench in a folder that everyone may read and only its owner may write. */
async function openToAll({ skip }: TestContext, outsider: ReadOnlyClient): Promise<SimulatedBench> {
  const bench = await setUp();
  const data = dirname(bench.database);
  mkdirSync(data);
  for (const folder of [bench.folder, data]) chmodSync(folder, 0o755);
  const reason = outsider.missing(data);
  skip(reason !== undefined, reason);
  return bench;
}

/** The list that an outsider reads, and the list that the service sent. */
async function look({ database, simulator }: SimulatedBench, outsider: ReadOnlyClient) {
  const rows = await outsider.ask(
    database,
    `SELECT league_id, league_name, (SELECT integrity_check FROM pragma_integrity_check) AS integrity,
            (SELECT live_leagues FROM freshness) AS live
       FROM leagues ORDER BY league_id`,
  );
  const sent = (simulator.leagues() as readonly Listed[]).map(({ league_id, league_name }) => ({
    league_id,
    league_name,
    integrity: 'ok',
    live: LEAGUES,
  }));
  return { found: rows, sent: sent.toSorted((a, b) => (a.league_id < b.league_id ? -1 : 1)) };
}

async function expectAll(bench: SimulatedBench, outsider: ReadOnlyClient): Promise<void> {
  const { found, sent } = await look(bench, outsider);
  expect(found).toHaveLength(LEAGUES);
  expect(found).toEqual(sent);
}

async function startPolled(bench: SimulatedBench): Promise<RunningProgram> {
  const worker = bench.start(['run']);
  await worker.waitForPoll('changed');
  return worker;
}

/** Gives every league another name. */
function rename({ simulator }: SimulatedBench, suffix: string): void {
  const leagues = simulator.leagues() as readonly Listed[];
  simulator.setLeagues(leagues.map((league) => ({ ...league, league_name: `${league.league_id} ${suffix}` })));
}

describe.each(OUTSIDERS)('a reader $who finds every league', (outsider) => {
  it('at any time while each poll changes all of them', async (context) => {
    const bench = await openToAll(context, outsider);
    const worker = await startPolled(bench);
    const instants: unknown[] = [];
    let polling = true;
    const looking = (async () => {
      while (polling) {
        const [row] = await outsider.ask(bench.database, VERSION);
        expect(row).toEqual({ leagues: LEAGUES, oldest: row?.newest, newest: row?.newest, polled: row?.newest });
        instants.push(row?.newest);
      }
    })();
    // Awaited only at the end.
    looking.catch(() => undefined);
    for (let poll = 1; poll <= CHANGING_POLLS; poll += 1) {
      rename(bench, `of poll ${poll}`);
      await worker.pollNow('changed');
      const looks = instants.length;
      await eventually('the reader has looked again', () => instants.length > looks + 1);
    }
    polling = false;
    await looking;
    expect(new Set(instants).size).toBeGreaterThanOrEqual(CHANGING_POLLS);
    await expectAll(bench, outsider);
    expect((await worker.stop()).code).toBe(0);
  });

  it('after every stop, though another reader comes and goes at that very moment', async (context) => {
    const bench = await openToAll(context, outsider);
    expect((await bench.run(['sync'])).code).toBe(0);
    for (let restart = 1; restart <= RESTARTS; restart += 1) {
      const worker = bench.start(['run']);
      await worker.waitForLog((line) => String(line.msg).startsWith('worker started'));
      const endReading = outsider.readOverAndOver(bench.database, 'SELECT count(*) FROM leagues');
      await outsider.ask(bench.database, 'SELECT 1');
      expect((await worker.stop()).code).toBe(0);
      await endReading();
      await expectAll(bench, outsider);
    }
  });
});
