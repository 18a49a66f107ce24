import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { tryOrUndefined } from '../../src/try-or-undefined.ts';
import { DEADLINE_MS } from './program.ts';

/** The size of a database whose copy a test interrupts. */
const PADDING_MB = 60;
/** Enough to be sure that copying is in progress. */
const UNDER_WAY_BYTES = 2 ** 20;

/** Makes the database so large that copying takes a while. */
export function pad(database: string): void {
  const db = new Database(database);
  db.pragma('synchronous = OFF');
  db.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO league_changes (run_id, at, league_id, kind, after)
     SELECT 1, '2026-01-01T00:00:00.000Z', 'padding ' || i, 'added', '"' || hex(zeroblob(500000)) || '"' FROM n`,
  ).run(PADDING_MB);
  db.close();
}

/** Suspends the copy process of `parent` while a partial copy is in the folder. */
export async function freezeCopy(parent: number, folder: string) {
  const giveUpAt = performance.now() + DEADLINE_MS;
  let copier = 0;
  onTestFinished(() => {
    if (copier > 0) killIfAlive(copier);
  });
  // In small steps, so that the copy cannot complete unnoticed if this process wakes late.
  while (written(folder) < UNDER_WAY_BYTES) {
    if (performance.now() > giveUpAt) throw new Error('No process has begun to copy.');
    copier = copierOf(parent) ?? 0;
    if (copier > 0) process.kill(copier, 'SIGCONT');
    await rest();
    // One that finds the copy up to date ends without writing.
    if (copier > 0 && copierOf(parent) === copier) process.kill(copier, 'SIGSTOP');
  }
  return {
    goOn: () => process.kill(copier, 'SIGCONT'),
    kill: () => process.kill(copier, 'SIGKILL'),
    /** Whether the process has ended or is a zombie. */
    hasEnded: () => readOrNothing(`/proc/${copier}/cmdline`) === '',
  };
}

const rest = (): Promise<void> => new Promise((wake) => setTimeout(wake, 3));

export function killIfAlive(pid: number): void {
  tryOrUndefined(() => process.kill(pid, 'SIGKILL'));
}

/** The pid of the child of `parent` that runs the program (after exec). */
export function copierOf(parent: number): number | undefined {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').split(' ').map(Number);
  return children.find((pid) => pid > 0 && readOrNothing(`/proc/${pid}/cmdline`).includes('\0copy\0'));
}

function readOrNothing(path: string): string {
  return tryOrUndefined(() => readFileSync(path, 'latin1')) ?? '';
}

function written(folder: string): number {
  const parts = readdirSync(folder).filter((name) => /part/.test(name) && !name.endsWith('-journal'));
  return Math.max(0, ...parts.map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0));
}

/** Mounts a disk at a new folder until the end of the test. Undefined if this user may not mount. */
export function mountDisk(folder: string, options: string): string | undefined {
  mkdirSync(folder);
  return mount(folder, '-t', 'tmpfs', '-o', options, 'tmpfs') ? folder : undefined;
}

/** Makes the file a mount of its own, of itself or of another file, as containers do. */
export function mountFile(file: string, source = file): void {
  mount(file, '--bind', source);
}

function mount(path: string, ...args: readonly string[]): boolean {
  const { status } = spawnSync('mount', [...args, path], { stdio: 'ignore' });
  if (status === 0) onTestFinished(() => void execFileSync('umount', ['-l', path]));
  return status === 0;
}

export const NO_MOUNT = 'this user may not mount a disk';
