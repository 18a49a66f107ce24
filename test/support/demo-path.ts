import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type SimulatedBench, setUp } from './bench.ts';
import { type Exit, runProgram, startProgram } from './program.ts';

/** A folder with a worker whose database is at the path of the demo. */
export type Place = Pick<SimulatedBench, 'folder' | 'simulator'> & {
  readonly database: string;
  readonly run: SimulatedBench['run'];
  readonly start: SimulatedBench['start'];
};

/** An empty bench for a demo and a worker. */
export async function setUpPlace(): Promise<Place> {
  const bench = await setUp();
  const database = join(bench.folder, 'demo-data', 'leagues.db');
  const there = { LEAGUE_SYNC_DATABASE: database };
  return {
    folder: bench.folder,
    simulator: bench.simulator,
    database,
    run: (args, env) => bench.run(args, { ...there, ...env }),
    start: (args, env) => bench.start(args, { ...there, ...env }),
  };
}

/** Runs a demo that must be refused. */
export function runDemo({ folder }: Pick<Place, 'folder'>): Promise<Exit> {
  return runProgram(['demo', '--for', '300ms'], { cwd: folder });
}

/** Runs a demo until it has polled, then ends it with this signal. */
export async function leaveDemo(place: Place, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const demo = startProgram(['demo'], { cwd: place.folder });
  await demo.waitForPoll('changed');
  await demo.stop(signal);
}

/** Names, kinds and contents of all that is below a folder, except for a lock file left behind: the next holder removes it. */
export function treeOf(folder: string): Readonly<Record<string, string>> {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const names = all.filter((name) => !name.endsWith('.lock'));
  return Object.fromEntries(names.map((name) => [name, describePath(join(folder, name))]));
}

function describePath(path: string): string {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  return found.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'folder';
}
