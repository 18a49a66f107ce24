import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { EVERY_SECOND, setUpFor } from '../support/bench.ts';
import type { Findings } from '../support/flip-reader.ts';
import { makeLeague } from '../support/leagues.ts';
import { eventually, type RunningProgram } from '../support/program.ts';
import { listLeagues, startService } from '../support/service.ts';

const LEAGUES = 20_000;
const PROBES = 40;
const READS = 10_000;
const RESTARTS = 3;
const MIDWAY_MS = 300;

const READER = new URL('../support/flip-reader.ts', import.meta.url);

/** Two lists of the same leagues with entirely different content. */
const LISTS = ['A', 'B'].map((name) => {
  const leagues = Array.from({ length: LEAGUES }, (_, index) => {
    const league = makeLeague(idOf(index));
    return { ...league, league_name: `${league.league_name} ${name}` };
  });
  return listLeagues(leagues, { message: name });
});

function idOf(index: number): string {
  return `league-${String(index).padStart(6, '0')}`;
}

type Reader = { readonly findings: () => Findings; readonly stop: () => Promise<Findings> };

/** Starts a reader that runs until it is stopped. */
async function startReader(database: string): Promise<Reader> {
  const probes = Array.from({ length: PROBES }, (_, probe) => idOf(Math.floor((probe * (LEAGUES - 1)) / (PROBES - 1))));
  const child = fork(READER, [database, ...probes]);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [first] = await once(child, 'message');
  let findings: Findings = first;
  child.on('message', (message) => {
    findings = message as Findings;
  });
  return {
    findings: () => findings,
    stop: async () => {
      const ended = once(child, 'exit');
      child.send('stop');
      await ended;
      return findings;
    },
  };
}

/** Waits until the worker has flipped the list once more, and the reader has seen it. */
async function waitForFlip(worker: RunningProgram, { findings }: Reader): Promise<void> {
  const { versions } = findings();
  await worker.waitForPoll('changed');
  await eventually('the reader sees another version', () => findings().versions > versions);
}

const NAME = `a reader of 20,000 leagues that all flip to and fro sees one list or the other, never a mix or an error,
  and no poll fails for it, though the worker is stopped, killed and started`.replace(/\s+/g, ' ');

it(NAME, { timeout: 240_000 }, async ({ annotate }) => {
  const service = await startService({ leagues: (_response, { nth }) => LISTS[nth % 2] });
  const bench = setUpFor(service.url);
  const start = () => bench.start(['run'], { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
  let worker = start();
  await worker.waitForPoll('changed');
  const reader = await startReader(bench.database);
  await waitForFlip(worker, reader);
  for (let restart = 1; restart <= RESTARTS; restart += 1) {
    expect((await worker.stop()).code).toBe(0);
    worker = start();
    await waitForFlip(worker, reader);
  }
  const asked = service.requests.length;
  await eventually('a list is on its way into the database', () => Number.isFinite(service.requests[asked]?.endedAt));
  await sleep(MIDWAY_MS);
  await worker.stop('SIGKILL');
  worker = start();
  await waitForFlip(worker, reader);
  await eventually('the reader has read enough', () => reader.findings().reads >= READS, 120_000);
  expect((await worker.stop()).code).toBe(0);

  const { reads, wholeReads, versions, longestMs, wrong } = await reader.stop();
  await annotate(`the longest of ${reads} reads took ${Math.ceil(longestMs)} ms`);
  expect(wrong).toEqual({});
  expect(reads).toBeGreaterThanOrEqual(READS);
  expect(wholeReads).toBeGreaterThanOrEqual(READS / 100);
  expect(versions).toBeGreaterThanOrEqual(RESTARTS + 3);
  expect(bench.rows('SELECT DISTINCT error_kind FROM runs')).toEqual([{ error_kind: null }]);
  expect(bench.rows("SELECT DISTINCT changed FROM runs WHERE outcome = 'changed' AND added = 0")).toEqual([
    { changed: LEAGUES },
  ]);
});
