import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import { eventually } from '../support/program.ts';
import { expectInOrder } from '../support/stopping.ts';
import { missingPython } from './python.ts';

/**
 * Runs a command as the leader of a session at a terminal, shows what the terminal shows, and ends with the exit code
 * of the command. Passes SIGHUP and SIGTERM on; SIGUSR1 cuts the terminal.
 */
const AT_TERMINAL = `
import os, pty, signal, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
for name in (signal.SIGHUP, signal.SIGTERM):
    signal.signal(name, lambda name, _: os.kill(pid, name))
signal.signal(signal.SIGUSR1, lambda *_: os.close(terminal))
try:
    while data := os.read(terminal, 65536):
        os.write(1, data)
except OSError:
    pass
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(code if code >= 0 else 128 - code)
`;
const CUT = 'SIGUSR1';
/** The program as the job of a shell that survives the cut of the terminal, so that the kernel sends no SIGHUP. */
const UNDER_SHELL = ['sh', '-c', 'trap "" HUP; "$@"; exit $?', 'sh'];

function startAtTerminal(bench: SimulatedBench, args: readonly string[], through: readonly string[] = []) {
  const env = { LEAGUE_SYNC_LOG_FORMAT: 'json', LEAGUE_SYNC_LOG_LEVEL: 'info' };
  return bench.start(args, env, { through: ['python3', '-c', AT_TERMINAL, ...through] });
}

describe('SIGHUP', () => {
  beforeEach(({ skip }) => skip(missingPython() !== undefined, missingPython()));

  it.each(['run', 'demo'])('ends %s cleanly, with 0, if its terminal is gone', async (command) => {
    const bench = await setUp();
    const worker = startAtTerminal(bench, [command]);
    await worker.waitForPoll('changed');
    const { code, stderr } = await worker.stop(CUT);
    expect([code, stderr]).toEqual([0, '']);
    if (command === 'run') expectInOrder(bench.database);
  });

  it('ends simulate with 0 if its terminal is gone, and is ignored otherwise', async () => {
    const simulate = startAtTerminal(await setUp(), ['simulate', '--port', '0']);
    const { url } = await simulate.waitForLog((line) => line.url !== undefined);
    simulate.send('SIGHUP');
    // Had it taken the first signal for its end, it would not answer all of these.
    for (let nth = 0; nth < 20; nth += 1) expect((await fetch(`${url}/_faults`)).status).toBe(200);
    expect((await simulate.stop(CUT)).code).toBe(0);
  });

  it('ends a command that polls once with 129', async () => {
    const bench = await setUp({ faults: ['hang'] });
    const sync = startAtTerminal(bench, ['sync']);
    await eventually('the poll has begun', () => bench.simulator.requests.length > 0);
    expect((await sync.stop(CUT)).code).toBe(129);
    expectInOrder(bench.database);
  });

  it('makes a worker under nohup poll, even after the terminal is gone', async () => {
    const bench = await setUp();
    const worker = startAtTerminal(bench, ['run'], ['nohup']);
    const out = join(bench.folder, 'nohup.out');
    const read = () => (existsSync(out) ? readFileSync(out, 'utf8') : '');
    const polls = (count: number) =>
      eventually(`poll ${count} has ended`, () => read().split('"kind":"leagues"').length === count + 1);
    await polls(1);
    worker.send(CUT);
    await polls(2);
    worker.send('SIGHUP');
    await polls(3);
    expect((await worker.stop()).code).toBe(0);
  });

  it('ends a worker whose terminal goes just after a closing shell has sent it', async () => {
    const bench = await setUp();
    const worker = startAtTerminal(bench, ['run'], UNDER_SHELL);
    const { msg } = await worker.waitForLog((line) => String(line.msg).startsWith('worker started'));
    await worker.waitForPoll('changed');
    process.kill(Number(/process (\d+)/.exec(String(msg))?.[1]), 'SIGHUP');
    await worker.waitForPoll('unchanged');
    expect((await worker.stop(CUT)).code).toBe(0);
  });
});
