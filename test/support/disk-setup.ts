import { chmodSync, cpSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { SimulatedBench } from './bench.ts';
import { mountDisk, picture } from './copy-process.ts';
import { askSqlite3 } from './database.ts';
import { makeLeagues, setUpHeld } from './held-removals.ts';
import type { Exit } from './program.ts';

/** What people have for a database; `accept-removals` has something to accept. */
const COMMANDS = {
  sync: ['sync'],
  run: ['run'],
  profile: ['profile'],
  'sync --dry-run': ['sync', '--dry-run'],
  status: ['status'],
  query: ['query', 'SELECT * FROM leagues JOIN runs ORDER BY sport'],
  changes: ['changes'],
  backup: ['backup', 'copy.db'],
  'accept-removals': ['accept-removals', '--yes'],
} as const;
export type CommandName = keyof typeof COMMANDS;

export const WORKING = ['sync', 'run', 'profile'] as const;
export const READING = ['status', 'query', 'changes', 'backup'] as const;
export const EVERY = Object.keys(COMMANDS) as readonly CommandName[];

/** What may lie beside a database without being one. */
const COMPANION = /(-wal|-shm|-journal|\.lock)$/;

/** A database at rest, with held removals, on a disk of 2 MB that it has to itself. */
export type DiskPlace = SimulatedBench & { readonly disk: string };

/** A fault that was caused before a command starts. */
export type AppliedFault = {
  /** Takes it back; missing if there is nothing to take back. */
  readonly undo?: () => void;
  /** Another path for the database. */
  readonly database?: string;
  /** What runs the program in place of the test. */
  readonly through?: readonly string[];
};

/** Undefined if this user may not mount. */
export async function setUpPlace(): Promise<DiskPlace | undefined> {
  const bench = await setUpHeld();
  // Listed again, so that a poll is an ordinary one; what is held stays so until then.
  bench.simulator.setLeagues(makeLeagues(1, 10));
  const disk = mountDisk(join(bench.folder, 'disk'), 'size=2m');
  if (disk === undefined) return undefined;
  const database = join(disk, 'leagues.db');
  cpSync(bench.database, database);
  // Other users may start the program here, and make their copies.
  chmodSync(bench.folder, 0o777);
  return { ...bench, disk, database };
}

/** Runs a command on what was harmed. */
export function runOn(place: DiskPlace, command: CommandName, { database, through = [] }: AppliedFault): Promise<Exit> {
  return place.run(COMMANDS[command], { LEAGUE_SYNC_DATABASE: database ?? place.database }, { through });
}

/** The command exits with 74, one line that names the path and the fix, and nothing written. */
export async function expectRefusal(place: DiskPlace, command: CommandName, harmed: AppliedFault, fix: RegExp) {
  const before = contentOf(place.disk);
  const { code, signal, stderr } = await runOn(place, command, harmed);
  const what = `${command}\n${stderr}`;
  expect([code, signal], what).toEqual([74, null]);
  const said = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect(said, what).toHaveLength(1);
  expect(said[0], what).toMatch(/^league-sync: /);
  expect(said[0], what).toContain(harmed.database ?? place.database);
  expect(said[0], what).toMatch(fix);
  expect(contentOf(place.disk), what).toEqual(before);
}

/** The command does what it is for, and writes nothing on the disk. */
export async function expectService(place: DiskPlace, command: CommandName, harmed: AppliedFault): Promise<void> {
  const before = picture(place.disk);
  const { code, stderr } = await runOn(place, command, harmed);
  expect(code, `${command}\n${stderr}`).toBe(0);
  expect(picture(place.disk), command).toEqual(before);
}

/** The next `sync` goes on where the last one stopped, and leaves one sound file. */
export async function expectGoesOn(place: DiskPlace): Promise<void> {
  place.simulator.setLeagues(makeLeagues(1, 11));
  const { code, stderr } = await runOn(place, 'sync', {});
  expect(code, stderr).toBe(0);
  expect(askSqlite3(place.database, 'SELECT count(*) AS n FROM leagues WHERE removed_at IS NULL')).toEqual([{ n: 11 }]);
  expect(askSqlite3(place.database, 'SELECT * FROM pragma_integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(readdirSync(dirname(place.database))).toEqual(['leagues.db']);
}

/** Every file except the sidecar files, which a refused command may have created. */
function contentOf(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(picture(folder)).filter(([name]) => !COMPANION.test(name)));
}
