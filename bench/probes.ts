import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

// How fast a worker answers probes, metrics and its page while it polls 20,000 leagues that change. Kubernetes gives a
// probe a second.

const PROGRAM = join(import.meta.dirname, '../dist/league-sync.cjs');
const SAMPLES = join(import.meta.dirname, '../src/simulator/leagues.json');
const LEAGUES = 20_000;
const CHURN = '20ms';
const SCHEDULE = '*/10 * * * * *';
const PER_SECOND = 50;
const SECONDS = 60;
const PROBES = ['/livez', '/readyz', '/metrics'];
const PAGES = ['/', '/?q=united', '/changes', '/status.json'];

type Child = AsyncDisposable & { readonly line: (fits: (line: string) => boolean) => Promise<string> };
type Row = Readonly<Record<string, unknown>>;

function start(args: readonly string[], env: Readonly<Record<string, string>>): Child {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return {
    line: async (fits) => {
      for (;;) {
        const found = lines.find(fits);
        if (found !== undefined) return found;
        if (child.exitCode !== null) throw new Error(`"${args[0]}" ended:\n${lines.join('\n')}`);
        await sleep(20);
      }
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      while (child.exitCode === null && child.signalCode === null) await sleep(20);
    },
  };
}

function writeLeagues(file: string): void {
  const { leagues } = JSON.parse(readFileSync(SAMPLES, 'utf8')) as { leagues: readonly Row[] };
  const many = Array.from({ length: LEAGUES }, (_, index) => {
    const sample = leagues[index % leagues.length] ?? {};
    return { ...sample, league_id: `${sample.league_id}-${index}`, league_name: `${sample.league_name} ${index}` };
  });
  writeFileSync(file, JSON.stringify({ leagues: many }));
}

/** Asks each path in turn, `perSecond` times a second, however long the answers take. Milliseconds each. */
async function ask(
  url: string,
  paths: readonly string[],
  { perSecond, seconds }: { perSecond: number; seconds: number },
) {
  const took: Promise<number>[] = [];
  for (let index = 0; index < perSecond * seconds; index += 1) {
    took.push(time(url + paths[index % paths.length]));
    await sleep(1_000 / perSecond);
  }
  return Promise.all(took);
}

async function time(url: string): Promise<number> {
  const began = performance.now();
  const response = await fetch(url);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return performance.now() - began;
}

function report(name: string, took: readonly number[]): void {
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN).toFixed(1).padStart(9);
  console.log(`${name.padEnd(34)}${String(took.length).padStart(6)}${at(0.5)}${at(0.95)}${at(0.99)}${at(1)}`);
}

const folder = mkdtempSync(join(tmpdir(), 'league-sync-bench-'));
try {
  writeLeagues(join(folder, 'leagues.json'));
  await using simulator = start(
    ['simulate', '--port', '0', '--leagues', join(folder, 'leagues.json'), '--churn', CHURN],
    {},
  );
  const address = /http:\/\/127\.0\.0\.1:\d+/.exec(await simulator.line((line) => line.includes('http://')))?.[0] ?? '';
  await using worker = start(['run'], {
    LEAGUE_SYNC_BASE_URL: address,
    LEAGUE_SYNC_USERNAME: 'player',
    LEAGUE_SYNC_PASSWORD: 'secret-password',
    LEAGUE_SYNC_DATABASE: join(folder, 'leagues.db'),
    LEAGUE_SYNC_SCHEDULE: SCHEDULE,
    LEAGUE_SYNC_LISTEN: '127.0.0.1:0',
    LEAGUE_SYNC_LOG_FORMAT: 'json',
  });
  const { url } = JSON.parse(await worker.line((line) => line.includes('"url"'))) as { url: string };
  await worker.line((line) => line.includes('"run":"leagues"'));
  console.log(`${LEAGUES} leagues, one changed every ${CHURN}, polled at "${SCHEDULE}"; answers in ms\n`);
  console.log(
    `${''.padEnd(34)}${'asked'.padStart(6)}${['median', '95 %', '99 %', 'most'].map((name) => name.padStart(9)).join('')}`,
  );
  report(
    `probes and metrics, ${PER_SECOND} a second`,
    await ask(url, PROBES, { perSecond: PER_SECOND, seconds: SECONDS }),
  );
  report('pages, 2 a second', await ask(url, PAGES, { perSecond: 2, seconds: SECONDS / 2 }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
