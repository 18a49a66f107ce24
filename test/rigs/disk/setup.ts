import { chmodSync, cpSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { SimulatedBench } from '../../support/bench.ts';
import { mountDisk } from '../../support/copy-process.ts';
import { askSqlite3 } from '../../support/database.ts';
import { fingerprint } from '../../support/folder.ts';
import { setUpHeld } from '../../support/held-removals.ts';
import { makeLeagues } from '../../support/leagues.ts';
import type { Exit } from '../../support/program.ts';

/** The commands that use a database; `accept-removals` has held removals to accept. */
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

/** Files beside a database that are not databases. */
const COMPANION = /(-wal|-shm|-journal|\.lock)$/;

/** A database that no program has open, with held removals, on its own disk of 2 MB. */
export type DiskPlace = SimulatedBench & { readonly disk: string };

/** A fault that was caused before a command starts. */
export type AppliedFault = {
  /** Undoes the fault; missing if there is nothing to undo. */
  readonly undo?: () => void;
  /** Another path for the database. */
  readonly database?: string;
  /** The command that runs the program. */
  readonly through?: readonly string[];
};

/** Undefined if this user may not mount. */
export async function setUpPlace(): Promise<DiskPlace | undefined> {
  const bench = await setUpHeld();
  // All leagues are listed again, so that a poll is an ordinary one; their removals stay held until then.
  bench.simulator.setLeagues(makeLeagues(10));
  const disk = mountDisk(join(bench.folder, 'disk'), 'size=2m');
  if (disk === undefined) return undefined;
  const database = join(disk, 'leagues.db');
  cpSync(bench.database, database);
  // Lets other users start the program here and write copies.
  chmodSync(bench.folder, 0o777);
  return { ...bench, disk, database };
}

/** Runs a command with this fault. */
export function runOn(place: DiskPlace, command: CommandName, { database, through = [] }: AppliedFault): Promise<Exit> {
  const env = { LEAGUE_SYNC_DATABASE: database ?? place.database };
  return through.length === 0
    ? place.run(COMMANDS[command], env)
    : place.runProcess(COMMANDS[command], env, { through });
}

/** Expects exit code 74, one line with the path and the fix, and no change on the disk. */
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

/** Expects that the command succeeds and does not write to the disk. */
export async function expectService(place: DiskPlace, command: CommandName, harmed: AppliedFault): Promise<void> {
  const before = fingerprint(place.disk);
  const { code, stderr } = await runOn(place, command, harmed);
  expect(code, `${command}\n${stderr}`).toBe(0);
  expect(fingerprint(place.disk), command).toEqual(before);
}

/** Expects that the next `sync` succeeds and leaves one intact file. */
export async function expectGoesOn(place: DiskPlace): Promise<void> {
  place.simulator.setLeagues(makeLeagues(11));
  const { code, stderr } = await runOn(place, 'sync', {});
  expect(code, stderr).toBe(0);
  expect(askSqlite3(place.database, 'SELECT count(*) AS n FROM leagues WHERE removed_at IS NULL')).toEqual([{ n: 11 }]);
  expect(askSqlite3(place.database, 'SELECT * FROM pragma_integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(readdirSync(dirname(place.database))).toEqual(['leagues.db']);
}

/** Every file except the sidecar files, which a refused command may have created. */
function contentOf(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fingerprint(folder)).filter(([name]) => !COMPANION.test(name)));
}
