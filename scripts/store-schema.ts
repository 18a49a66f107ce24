import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import bundled from '../src/simulator/leagues.json' with { type: 'json' };
import { startSimulator } from '../src/simulator/simulator.ts';

// Recreates test/fixtures/schema-<newest>.db: a database of the current schema, made by the program itself, with rows
// in every table. Later versions must be able to open it. Run it once before a release with a migration, or while that
// migration is still being written: npm run build && node scripts/store-schema.ts

const PROGRAM = resolve('dist/league-sync.cjs');
/** Few enough for a small file, many enough for the guard against mass removals. */
const LEAGUES = 40;
const CHURN_MS = 60;

const { entries } = JSON.parse(readFileSync('migrations/meta/_journal.json', 'utf8'));
const fixture = join('test', 'fixtures', `schema-${entries.length}.db`);
const folder = mkdtempSync(join(tmpdir(), 'league-sync-schema-'));
const database = join(folder, 'leagues.db');

await using simulator = await startSimulator({ leagues: bundled.leagues.slice(0, LEAGUES), churnMs: CHURN_MS });
const env = {
  PATH: process.env.PATH,
  LEAGUE_SYNC_BASE_URL: simulator.url,
  LEAGUE_SYNC_USERNAME: 'player',
  LEAGUE_SYNC_PASSWORD: 'secret-password',
  LEAGUE_SYNC_DATABASE: database,
  LEAGUE_SYNC_LISTEN: 'off',
  // Nothing listens there, so that a message stays in flight.
  LEAGUE_SYNC_WEBHOOK_URL: 'http://127.0.0.1:9/leagues',
  LEAGUE_SYNC_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 'example').toString('base64')}`,
};

try {
  await pollSome();
  await make('profile', [0]);
  await makeUnderFault('bad-rows', 'sync', [0, 3]);
  await makeUnderFault('new-field', 'sync', [0, 3]);
  await makeUnderFault('login-refused', 'sync', [77]);
  await runWorker();
  await makeUnderFault('empty-list', 'sync', [3]);
  askForPoll();
  mkdirSync('test/fixtures', { recursive: true });
  copyFileSync(database, fixture);
  console.log(`${fixture} is rebuilt`);
} finally {
  rmSync(folder, { recursive: true });
}

async function pollSome(): Promise<void> {
  for (let polls = 0; polls < 6; polls += 1) await make('sync', [0]);
}

async function makeUnderFault(fault: string, command: string, expected: readonly number[]): Promise<void> {
  simulator.setFault(fault, true);
  await make(command, expected);
  simulator.setFault(fault, false);
}

/** As `poll` does, of which no row stays. */
function askForPoll(): void {
  const db = new Database(database);
  db.exec("INSERT INTO poll_requests (asked_at) VALUES (strftime('%Y-%m-%dT%H:%M:%fZ'))");
  db.close();
}

function make(command: string, expected: readonly number[]): Promise<void> {
  return new Promise((done, reject) => {
    execFile(process.execPath, [PROGRAM, command], { cwd: folder, env }, (error, _stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code);
      if (expected.includes(code)) done();
      else reject(new Error(`league-sync ${command} ended with ${code}:\n${stderr}`));
    });
  });
}

/** Runs a worker until both kinds of run have been recorded, then stops it like an operator. */
async function runWorker(): Promise<void> {
  const settings = {
    ...env,
    LEAGUE_SYNC_SCHEDULE: '* * * * * *',
    LEAGUE_SYNC_PROFILE_SCHEDULE: '* * * * * *',
  };
  const worker = spawn(process.execPath, [PROGRAM, 'run'], {
    cwd: folder,
    env: settings,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const awaited = new Set(['leagues', 'profile']);
  for await (const line of createInterface({ input: worker.stdout })) {
    const { kind, outcome } = JSON.parse(line);
    if (outcome === 'changed' || outcome === 'unchanged') awaited.delete(kind);
    // A second signal would end it at once.
    if (awaited.size === 0 && !worker.killed) worker.kill('SIGTERM');
  }
  if (worker.exitCode === null) await once(worker, 'exit');
  if (worker.exitCode !== 0) throw new Error(`the worker ended with ${worker.exitCode}`);
}
