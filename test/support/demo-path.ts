import { join } from 'node:path';
import { addSettings, type Bench, type SimulatedBench, setUp } from './bench.ts';
import { readRows } from './database.ts';
import { type Exit, runProgram, startProgram } from './program.ts';

/** An empty bench for a demo and a worker, whose database is at the path of the demo. */
export async function setUpPlace(): Promise<SimulatedBench> {
  const bench = await setUp();
  const database = join(bench.folder, 'demo-data', 'leagues.db');
  return {
    ...addSettings(bench, { LEAGUE_SYNC_DATABASE: database }),
    database,
    rows: (sql) => readRows(database, sql),
  };
}

/** Runs a demo that must be refused. */
export function runDemo({ folder }: Pick<Bench, 'folder'>): Promise<Exit> {
  return runProgram(['demo', '--for', '300ms'], { cwd: folder });
}

/** Runs a demo until it has polled, then ends it with this signal. */
export async function leaveDemo(place: Bench, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const demo = startProgram(['demo'], { cwd: place.folder });
  await demo.waitForPoll('changed');
  await demo.stop(signal);
}
