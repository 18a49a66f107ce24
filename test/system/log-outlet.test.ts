import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { tryOrUndefined } from '../../src/try-or-undefined.ts';
import { type Bench, leagueRequests, type SimulatedBench, setUp } from '../support/bench.ts';
import { makeFifo, openFullFifo, openUntilEnd } from '../support/fifo.ts';
import { eventually, type RunningProgram } from '../support/program.ts';
import { expectInOrder, LONGEST_STOP_MS, stopInTime } from '../support/stopping.ts';
import { needTerminal, startAtTerminal } from '../support/terminal.ts';

/** Waits for the poll in progress, if any, and has a worker poll again; its log cannot tell when. */
async function pollTwice({ simulator, rows }: SimulatedBench, worker: RunningProgram): Promise<void> {
  await eventually('it has polled', () => leagueRequests(simulator).length > 0);
  const isIdle = () => rows("SELECT 1 FROM runs WHERE outcome IN ('changed', 'unchanged')").length > 0;
  await eventually('the poll is stored', isIdle);
  const before = leagueRequests(simulator).length;
  for (let more = 1; more <= 2; more += 1) {
    worker.send('SIGHUP');
    await eventually('it polls again', () => leagueRequests(simulator).length >= before + more);
  }
}

/** A shell that redirects the streams of the program. */
function withStreams(redirection: string): readonly string[] {
  return ['sh', '-c', `exec "$@" ${redirection}`, 'sh'];
}

const needFull = ({ skip }: TestContext): void => skip(!existsSync('/dev/full'), 'there is no /dev/full');

const OUTLETS = [
  ['without any stream', '<&- >&- 2>&-'],
  ['with no room for stdout and stderr', '>/dev/full 2>&1'],
] as const;

describe('a worker', () => {
  beforeEach(needFull);

  it.each(OUTLETS)('%s keeps polling, and exits 0 when stopped', async (_, redirection) => {
    const bench = await setUp();
    const worker = bench.start(['run'], {}, { through: withStreams(redirection) });
    await pollTwice(bench, worker);
    expect(await stopInTime(worker)).toMatchObject({ code: 0, stderr: '' });
    expectInOrder(bench.database);
    expect(bench.rows("SELECT id FROM runs WHERE outcome NOT IN ('changed', 'unchanged', 'interrupted')")).toEqual([]);
  });
});

describe('sync', () => {
  beforeEach(needFull);

  it.each([
    ['without any stream', '<&- >&- 2>&-', 0],
    ['with no room for stderr, its log', '2>/dev/full', 0],
    ['with no room for stdout, its result, and stderr', '>/dev/full 2>&1', 1],
  ])('%s (%s) stores the poll and exits %i', async (_, redirection, expected) => {
    const bench = await setUp();
    const { code } = await bench.runProcess(['sync'], {}, { through: withStreams(redirection) });
    expect(code).toBe(expected);
    expectInOrder(bench.database);
    expect(bench.rows('SELECT outcome FROM runs')).toEqual([{ outcome: 'changed' }]);
  });
});

describe('a worker that logs', () => {
  it('to a FIFO without a reader keeps polling, and stops in time', async () => {
    const bench = await setUp();
    const worker = bench.start(['run'], {}, { stdout: openFullFifo() });
    await pollTwice(bench, worker);
    expect(await stopInTime(worker)).toMatchObject({ code: 0, stderr: '' });
    expectInOrder(bench.database);
  });

  it('to a reader that closes the pipe keeps polling, and exits 0 when stopped', async () => {
    const bench = await setUp();
    const path = makeFifo();
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const worker = bench.start(['run'], {}, { stdout: openUntilEnd(path, constants.O_WRONLY) });
    await eventually('it has polled', () => leagueRequests(bench.simulator).length === 1);
    closeSync(reader);
    await pollTwice(bench, worker);
    expect(await worker.stop()).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a worker at a terminal', () => {
  needTerminal();

  it('that takes nothing (Ctrl-S) keeps polling, and stops in time', async () => {
    const bench = await setUp();
    const terminal = startAtTerminal('run', { cwd: bench.folder, env: { ...bench.env, TERM: 'xterm' } });
    await eventually('it has polled', () => terminal.screen().includes('124 added'));
    const pid = Number(/\(process (\d+)\)/.exec(terminal.screen())?.[1]);
    terminal.type('\u0013');
    const before = leagueRequests(bench.simulator).length;
    for (let more = 1; more <= 2; more += 1) {
      process.kill(pid, 'SIGHUP');
      await eventually('it polls again', () => leagueRequests(bench.simulator).length >= before + more);
    }
    process.kill(pid, 'SIGTERM');
    await eventually('it ends', () => tryOrUndefined(() => process.kill(pid, 0)) === undefined, LONGEST_STOP_MS);
    expectInOrder(bench.database);
  });
});

// It waits for its reader forever, and still holds the lock of the database.
it('sync with a stuck reader exits on the first signal', async () => {
  const bench = await setUp();
  const sync = bench.start(['sync'], {}, { stdout: openFullFifo() });
  await eventually('the poll is stored', () => isStored(bench));
  sync.send('SIGTERM');
  await eventually('it has ended', () => !sync.alive());
});

function isStored({ database, rows }: Bench): boolean {
  const hasTable = existsSync(database) && rows("SELECT name FROM sqlite_schema WHERE name = 'runs'").length === 1;
  return hasTable && rows("SELECT id FROM runs WHERE outcome = 'changed'").length === 1;
}
