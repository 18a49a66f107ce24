import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type SimulatedBench, setUp } from '../support/bench.ts';
import { type Exit, eventually, type RunningProgram } from '../support/program.ts';
import { spellingsOf } from '../support/secret-encodings.ts';

const USERNAME = 'canary-name';
const PASSWORD = 'canary-password-4711';
const SECRETS = [PASSWORD, `${USERNAME}:${PASSWORD}`].flatMap((secret) => [...spellingsOf(secret)]);

/** All diagnostic reports of Node, for crashes and signals. */
const REPORTS = '--report-on-signal --report-on-fatalerror --report-uncaught-exception';
/** More than the program needs, but quickly exhausted. */
const HEAP = '--max-old-space-size=64';
/** The fault that SIGUSR1 triggers; Node ignores that signal once it has a listener. */
const FAULTS = {
  exception: "throw new Error('a fault')",
  memory: 'for (const all = []; ; ) all.push(new Array(100_000).fill(all.length))',
} as const;

type Crash = { readonly exit: Exit; readonly reports: readonly string[] };

/** Crashes a worker that has a token, and returns the files it left. */
async function crash(
  fault: keyof typeof FAULTS,
  bring: (worker: RunningProgram, place: string) => Promise<Exit>,
): Promise<Crash> {
  const bench = await setUp({ username: USERNAME, password: PASSWORD });
  const place = makeReportFolder();
  const preload = join(bench.folder, 'fault.cjs');
  writeFileSync(preload, `process.on('SIGUSR1', () => { ${FAULTS[fault]} });\n`);
  const options = `--require ${preload} ${REPORTS} --report-directory=${place} ${HEAP}`;
  const worker = bench.start(['run'], { ...settingsOf(bench), NODE_OPTIONS: options });
  await worker.waitForPoll('changed');
  const exit = await bring(worker, place);
  return { exit, reports: readdirSync(place).map((name) => readFileSync(join(place, name), 'utf8')) };
}

/** Outside of the bench, which fails on any secret: the reports are what these tests examine. */
function makeReportFolder(): string {
  const place = mkdtempSync(join(tmpdir(), 'league-sync-report-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

function settingsOf({ env }: SimulatedBench) {
  return { ...env, LEAGUE_SYNC_USERNAME: USERNAME, LEAGUE_SYNC_PASSWORD: PASSWORD, LEAGUE_SYNC_LOG_LEVEL: 'trace' };
}

const byFault = (worker: RunningProgram): Promise<Exit> => worker.stop('SIGUSR1');

async function bySignal(worker: RunningProgram, place: string): Promise<Exit> {
  worker.send('SIGUSR2');
  await eventually('the report is begun', () => readdirSync(place).length > 0);
  return worker.stop();
}

const CRASHES = [
  ['that it is asked for by a signal', 'exception', bySignal, 'Signal'],
  ['about a heap that is full', 'memory', byFault, 'OOMError'],
] as const;

describe('a diagnostic report of Node', () => {
  it.each(CRASHES)('%s is written, and holds no secret', async (_what, fault, bring, trigger) => {
    const { reports } = await crash(fault, bring);
    expect(reports.map((report) => JSON.parse(report).header.trigger)).toEqual([trigger]);
    expect(SECRETS.filter((secret) => reports.join('\n').includes(secret))).toEqual([]);
  });

  it('is not written if the program catches it itself', async () => {
    const { exit, reports } = await crash('exception', byFault);
    expect(exit.code).toBe(1);
    expect(exit.stderr).toContain('a fault');
    expect(reports).toEqual([]);
  });
});

it('a worker that gets SIGUSR1 opens no debugger and keeps running', async () => {
  const bench = await setUp({ username: USERNAME, password: PASSWORD });
  const worker = bench.start(['run'], settingsOf(bench));
  await worker.waitForPoll('changed');
  worker.send('SIGUSR1');
  await worker.pollNow('unchanged');
  const { code, stderr } = await worker.stop();
  expect(code).toBe(0);
  expect(stderr).not.toContain('Debugger');
});
