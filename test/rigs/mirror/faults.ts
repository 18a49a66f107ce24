import { copyFileSync } from 'node:fs';
import { setTimeout as rest } from 'node:timers/promises';
import { expect } from 'vitest';
import { createRandom, pickIndex, type Random } from '../../../src/simulator/churn.ts';
import { expectMirrored, FEED_RELATIONS } from '../../postgres/compare.ts';
import { createPostgres, type Postgres } from '../../postgres/postgres.ts';
import { type PostgresServer, startPostgres } from '../../postgres/server.ts';
import { change, expectToFollow, mirroredSeq } from '../../postgres/worker.ts';
import { addSettings, EVERY_SECOND, type SimulatedBench, setUp } from '../../support/bench.ts';
import { readRows } from '../../support/database.ts';
import type { RunningProgram } from '../../support/program.ts';
import { shuffleItems } from '../../support/shuffle.ts';
import { stopInTime } from '../../support/stopping.ts';
import { type HalfOpenRelay, openRelay } from './half-open.ts';
import { type LoopReader, startReader } from './reader.ts';

type FaultBench = {
  readonly bench: SimulatedBench;
  readonly postgres: Postgres;
  readonly server: PostgresServer;
  readonly relay: HalfOpenRelay;
  readonly reader: LoopReader;
  readonly random: Random;
  worker: RunningProgram;
};

/** A connection that fell silent in a transaction keeps the mirror locked until the server ends it. */
const PATIENCE = { interval: 20, timeout: 90_000 };

/** How often each fault is made, of 200 times. */
const FAULTS = {
  'worker killed': [60, killWorker],
  'connection ended by the server': [40, endConnections],
  'server killed': [24, killServer],
  'server suspended': [24, suspendServer],
  'half-open connection': [20, cutConnection],
  'server read-only': [12, makeReadOnly],
  'rights taken away': [12, takeRights],
  'file restored': [8, restoreFile],
} as const satisfies Record<string, readonly [number, (bench: FaultBench) => Promise<void>]>;

export type FaultName = keyof typeof FAULTS;

/** Every fault as often as its share of 200, divided by `by`. */
export function allFaults(by: number): readonly FaultName[] {
  return Object.entries(FAULTS).flatMap(([name, [times]]) =>
    Array<FaultName>(Math.floor(times / by)).fill(name as FaultName),
  );
}

/** Makes the faults in random order while every second a poll changes leagues; the mirror has to follow after each. */
export async function playFaults(seed: number, names: readonly FaultName[]) {
  const random = createRandom(seed);
  const server = await startPostgres();
  try {
    const postgres = await createPostgres(server.port);
    const relay = await openRelay(server.port);
    const url = postgres.url.replace(`:${server.port}/`, `:${relay.port}/`);
    const bench = addSettings(await setUp(), { LEAGUE_SYNC_POSTGRES_URL: url, LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    await expectToFollow(bench, postgres, PATIENCE, FEED_RELATIONS);
    await using reader = startReader(postgres, server);
    const faulty = { bench, postgres, server, relay, reader, random, worker };
    for (const [index, name] of shuffleItems(names, random).entries()) {
      change(bench, 1 + pickIndex(60, random), 1_000 + index);
      try {
        await FAULTS[name][1](faulty);
        // A poll tries the mirror again at once; otherwise the worker waits for its next attempt.
        if (random() < 0.5 && hasStarted(faulty.worker)) faulty.worker.send('SIGHUP');
        await expectToFollow(bench, postgres, PATIENCE, FEED_RELATIONS);
      } catch (error) {
        throw new Error(`fault ${index + 1}, ${name}`, { cause: error });
      }
    }
    await faulty.worker.stop();
    // While there are polls, the mirror is now and then one behind.
    expect((await bench.run(['mirror'])).code).toBe(0);
    await expectMirrored(bench.database, postgres.query);
    reader.expectWholeRuns(bench.database);
    const faults = Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
    return { faults, reads: reader.reads() };
  } finally {
    server.remove();
  }
}

/** Before that, SIGHUP would end it. */
function hasStarted(worker: RunningProgram): boolean {
  return worker.log().some(({ msg }) => String(msg).startsWith('worker started'));
}

async function within(random: Random, ms: number): Promise<void> {
  await rest(random() * ms);
}

async function killWorker(faulty: FaultBench): Promise<void> {
  await within(faulty.random, 700);
  await faulty.worker.stop('SIGKILL');
  faulty.worker = faulty.bench.start(['run']);
}

async function restartWorker(faulty: FaultBench): Promise<void> {
  expect((await stopInTime(faulty.worker)).code).toBe(0);
  faulty.worker = faulty.bench.start(['run']);
}

async function endConnections({ postgres, random }: FaultBench): Promise<void> {
  for (let times = 0; times < 3; times += 1) {
    await within(random, 400);
    await postgres.query(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'league-sync'",
    );
  }
}

async function killServer({ server, random }: FaultBench): Promise<void> {
  await within(random, 500);
  server.kill();
  await within(random, 1_000);
  server.start();
}

async function suspendServer({ server, random }: FaultBench): Promise<void> {
  await within(random, 500);
  server.signal('SIGSTOP');
  await within(random, 1_500);
  server.signal('SIGCONT');
}

/** Without a restart, only the time limit of 65 s would notice a silent connection: see `half-open.endurance.ts`. */
async function cutConnection(faulty: FaultBench): Promise<void> {
  const { relay, random } = faulty;
  await within(random, 500);
  relay.cut();
  await within(random, 1_000);
  const isReset = random() < 0.5;
  if (!isReset) await restartWorker(faulty);
  relay.heal(isReset ? 'reset' : 'silent');
}

async function makeReadOnly({ postgres, random }: FaultBench): Promise<void> {
  const { name, query } = postgres;
  const set = async (value: 'on' | 'off'): Promise<void> => {
    await query(`ALTER ROLE ${name} SET default_transaction_read_only = ${value}`);
    await query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'league-sync'");
  };
  await set('on');
  await within(random, 1_500);
  await set('off');
}

/** The worker has to say which right it lacks. */
async function takeRights({ postgres, worker }: FaultBench): Promise<void> {
  const relations = await postgres.query(`SELECT oid::regclass::text AS name, relkind AS kind FROM pg_class
    WHERE relnamespace = 'league_sync'::regnamespace AND relkind IN ('r', 'v')`);
  const giveTo = async (role: string): Promise<void> => {
    for (const { name, kind } of relations)
      await postgres.query(`ALTER ${kind === 'v' ? 'VIEW' : 'TABLE'} ${name} OWNER TO ${role}`);
  };
  await giveTo('postgres');
  await worker.waitForLog(
    ({ level, msg }) =>
      level === 40 && /permission denied.+grant what is missing: GRANT USAGE, CREATE/.test(String(msg)),
  );
  await giveTo(postgres.role);
}

/** The worker has to say that the mirror is ahead, or differs, and what to do. */
async function restoreFile(faulty: FaultBench): Promise<void> {
  const { bench, postgres, random, reader } = faulty;
  const copy = `${bench.folder}/copy-${performance.now()}.db`;
  expect((await bench.run(['backup', copy])).code).toBe(0);
  const copied = Number(readRows(copy, 'SELECT max(seq) AS seq FROM league_changes')[0]?.seq);
  change(bench, 1 + pickIndex(60, random), pickIndex(1_000, random));
  await expect.poll(() => mirroredSeq(postgres), { interval: 20, timeout: 20_000 }).toBeGreaterThan(copied);
  await faulty.worker.stop();
  reader.expectWholeRuns(bench.database);
  copyFileSync(copy, bench.database);
  faulty.worker = bench.start(['run']);
  await faulty.worker.waitForLog(
    ({ level, msg }) => level === 40 && /^The mirror (is ahead of|and) .+ mirror rebuild/.test(String(msg)),
  );
  const rebuilt = await bench.run(['mirror', 'rebuild']);
  expect([rebuilt.code, rebuilt.stderr]).toEqual([0, '']);
}
