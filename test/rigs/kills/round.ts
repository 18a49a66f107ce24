import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createRandom, type Random } from '../../../src/simulator/churn.ts';
import { type Bench, EVERY_SECOND, setUpFor } from '../../support/bench.ts';
import { type Exit, eventually, type LogLine, type RunningProgram, readLines } from '../../support/program.ts';
import { shuffleItems } from '../../support/shuffle.ts';
import { createLedger, type Ledger, type Problem, type Report } from './ledger.ts';
import { type KillTarget, MOMENTS, type Moment, reach, type Timings } from './moment.ts';
import { lacksWal, lookAt } from './snapshot.ts';
import { readVersion, startVersions, type VersionedService } from './version.ts';

/** What the kills of all rounds hit. */
export type Tally = {
  kills: number;
  /** Kills of the process that makes the published copy. */
  copierKills: number;
  /** Programs that ended before their kill. */
  missed: number;
  /** Kills during a clean stop, between the removal of the WAL and the update of the header. */
  withoutWal: number;
  readonly hits: Map<string, number>;
};

export const createTally = (): Tally => ({ kills: 0, copierKills: 0, missed: 0, withoutWal: 0, hits: new Map() });

export function describeTally({ hits, ...counts }: Tally): string {
  return JSON.stringify({ ...counts, ...Object.fromEntries(hits) });
}

type Round = { readonly seed: number; readonly leagues: number; readonly kills: number; readonly tally: Tally };

type KillSetup = {
  readonly bench: Bench;
  readonly copy: string;
  readonly service: VersionedService;
  readonly ledger: Ledger;
  readonly timings: Timings;
  readonly random: Random;
  readonly tally: Tally;
  readonly expectNone: (problems: readonly Problem[], when: string) => void;
};

/** A quarter of the kills hit a worker that is still recovering from the one before. */
const SHARE_OF_SECOND_KILLS = 0.25;
/** Moments after which a sync has probably ended. */
const STAYING: ReadonlySet<Moment> = new Set(['checkpoint', 'report', 'publish', 'copier']);
/** The maximum time until a restarted worker polls. */
const LONGEST_RESTART_MS = 10_000;
/** The warnings that a restart may log. */
const EXPECTED_WARNINGS =
  /of an earlier worker as interrupted|skipped: the previous run is still in progress|new departures? from the interface/;

/** Kills workers on one database repeatedly, and checks the files after each kill. */
export async function playRound({ seed, leagues, kills, tally }: Round): Promise<void> {
  const setup = await setUpKills(leagues, createRandom(seed), tally, seed);
  const moments = byChance(setup.random);
  for (let hits = 0; hits < kills; ) {
    const hit = await killOnce(moments.next().value, setup);
    if (hit) hits += 1;
    if (hits === kills || setup.random() > SHARE_OF_SECOND_KILLS) await recover(setup);
  }
  const { ledger, bench, expectNone } = setup;
  expectNone(ledger.judgeFeed(await lookAt(bench.database, 0)), 'at the end');
  await waitForCopiers(bench);
}

/** Waits for the copying processes of killed workers. */
export function waitForCopiers({ database }: Bench): Promise<unknown> {
  return eventually(
    'every copying process has ended',
    () => !readdirSync('/proc').some((pid) => copies(pid, database)),
  );
}

function copies(pid: string, database: string): boolean {
  try {
    const argv = readFileSync(join('/proc', pid, 'cmdline'), 'latin1').split('\0');
    return argv.includes('copy') && argv.includes(database);
  } catch {
    return false;
  }
}

async function setUpKills(leagues: number, random: Random, tally: Tally, seed: number): Promise<KillSetup> {
  const service = await startVersions(leagues);
  const bench = setUpFor(service.url);
  // Lets another user read the files.
  chmodSync(bench.folder, 0o755);
  return {
    bench,
    copy: join(bench.folder, 'shared', 'copy.db'),
    service,
    ledger: createLedger(leagues),
    timings: { startMs: 400, applyMs: 300, copyMs: 300 },
    random,
    tally,
    expectNone: (problems, when) => {
      expect(problems, `${when} (kill ${tally.kills}, TEST_SEED=${seed})`).toEqual([]);
    },
  };
}

/** All moments equally often, in random order. */
function* byChance(random: Random): Generator<Moment, Moment> {
  for (;;) yield* shuffleItems(MOMENTS, random);
}

function startTarget({ bench, service }: KillSetup, command: KillTarget['command']): KillTarget {
  const program = bench.start([command], {
    // Makes `sync` log its report, too.
    LEAGUE_SYNC_LOG_LEVEL: 'info',
    LEAGUE_SYNC_SCHEDULE: EVERY_SECOND,
    LEAGUE_SYNC_PUBLISH: 'shared/copy.db',
  });
  return { program, command, earlier: service.requests.length, service, database: bench.database };
}

/** Returns whether the program was still running. The files are checked in any case. */
async function killOnce(moment: Moment, setup: KillSetup): Promise<boolean> {
  const { bench, copy, ledger, service, tally, expectNone, random } = setup;
  const before = ledger.applied().length;
  const lackedWal = lacksWal(bench.database);
  const command = STAYING.has(moment) || random() < 0.6 ? 'run' : 'sync';
  const target = startTarget(setup, command);
  await reach(moment, target, setup.timings, random);
  if (moment === 'copier') tally.copierKills += 1;
  const copied = moment === 'copier' ? await lookAt(copy, 0) : undefined;
  const exit = await target.program.stop('SIGKILL');
  const reports = reportsOf(exit);
  const isHit = exit.signal === 'SIGKILL';
  if (isHit) tally.kills += 1;
  else tally.missed += 1;
  const when = `aimed at ${moment} of ${command}`;
  if (!lackedWal && lacksWal(bench.database)) {
    // Only a program that ends removes the WAL, and a sync ends by itself.
    expect([moment, command], when).toContain(command === 'sync' ? 'sync' : 'stop');
    tally.withoutWal += 1;
  }

  const look = await lookAt(bench.database, ledger.lastSeq());
  expectNone(ledger.learn(look, service.latest()), when);
  const hit = placeOf(moment, target, reports.length, ledger.applied().length - before);
  if (isHit) tally.hits.set(hit, (tally.hits.get(hit) ?? 0) + 1);
  expectNone(ledger.judgeReports(reports, before), when);
  if (command === 'sync' && exit.code === 0) expect(ledger.applied().length, when).toBe(before + 1);
  if (copied !== undefined) expectNone(ledger.judgeCopy(copied), `${when}, the copy`);
  expectNone(ledger.judgeCopy(await lookAt(copy, 0)), `${when}, the copy`);
  return isHit;
}

/** Where a kill hit, by what was asked, applied and reported. */
function placeOf(moment: Moment, { service, earlier }: KillTarget, reported: number, applied: number): string {
  const seen = service.requests.slice(earlier).filter(({ kind }) => kind === 'leagues');
  if (moment === 'stop') return 'in the stop';
  if (service.requests.length === earlier) return 'before the first request';
  if (seen.length === 0) return 'in the login';
  if (applied > reported) return 'after the transaction, before the report';
  if (seen.length > applied) return 'after the request, before or in the transaction';
  return 'after the report';
}

/** The polls that the log reports as done. */
function reportsOf(exit: Exit): readonly Report[] {
  return linesOf(exit)
    .filter(isPoll)
    .map(({ added, changed, removed, restored }) => ({ added, changed, removed, restored }));
}

/** A worker logs on stdout, a command on stderr. */
function linesOf({ stdout, stderr }: Exit): readonly LogLine[] {
  return [...readLines(stdout), ...readLines(stderr)];
}

function isPoll({ kind, outcome }: LogLine): boolean {
  return kind === 'leagues' && outcome === 'changed';
}

/** The next start after a kill: it recovers, polls, publishes, and exits cleanly. */
async function recover(setup: KillSetup): Promise<void> {
  const { bench, copy, ledger, service, expectNone, random } = setup;
  const [before, left, latest] = [ledger.applied().length, ledger.running(), service.latest()];
  const startedAt = performance.now();
  const target = startTarget(setup, random() < 0.5 ? 'run' : 'sync');
  if (target.command === 'run') await pollNow(target.program);
  const exit = await (target.command === 'run' ? target.program.stop() : target.program.waitForExit());
  expectClean(exit);
  learnTimings(setup, target, startedAt, exit);

  const look = await lookAt(bench.database, ledger.lastSeq());
  expectNone(ledger.learn(look, service.latest()), 'after a restart');
  expectNone(ledger.judgeReports(reportsOf(exit), before), 'after a restart');
  expect(ledger.running()).toEqual([]);
  expect(left.map(ledger.outcomeOf)).toEqual(left.map(() => 'interrupted'));
  expect(readVersion(ledger.applied().at(-1)?.message)).toBeGreaterThan(latest);
  expectNone(ledger.judgeCopy(await lookAt(copy, 0)), 'after a restart, the copy');
  expect(ledger.published()).toBe(ledger.applied().length);
  // The copy process of a killed worker may still be a reader: then an empty WAL remains.
  expect(existsSync(`${bench.database}.lock`)).toBe(false);
  expect(statSync(`${bench.database}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
}

async function pollNow(worker: RunningProgram): Promise<void> {
  await worker.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
  await worker.pollNow('changed');
}

function expectClean(exit: Exit): void {
  const warned = linesOf(exit).filter(
    ({ level, msg }) => Number(level) >= WARNING && !EXPECTED_WARNINGS.test(String(msg)),
  );
  expect([exit.code, warned]).toEqual([0, []]);
}

const WARNING = 40;

/** Measures a start up to the first request, which comes after the lock, the database and its recovery. */
function learnTimings({ service, timings }: KillSetup, { earlier }: KillTarget, startedAt: number, exit: Exit): void {
  timings.startMs = (service.requests[earlier]?.beganAt ?? Number.POSITIVE_INFINITY) - startedAt;
  expect(timings.startMs).toBeLessThan(LONGEST_RESTART_MS);
  timings.applyMs = Number(linesOf(exit).find(isPoll)?.duration_ms);
}
