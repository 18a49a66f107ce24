import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RunningProgram } from '../../support/program.ts';
import { failFromNowOn } from '../syscalls/attach.ts';
import { type DiskBench, fillDisk } from './small-disk.ts';

/** A problem with the disk of a running worker. */
export type Trouble = {
  /** The path of the database in the meantime; undefined if it is unreachable. */
  readonly database: string | undefined;
  /** Ends the problem. */
  readonly pass: () => Promise<void> | void;
};
export type InjectTrouble = (bench: DiskBench, worker: RunningProgram) => Trouble | Promise<Trouble>;

export const fillUp: InjectTrouble = ({ disk, database }) => {
  const filler = fillDisk(disk, 0);
  return { database, pass: () => rmSync(filler) };
};

export function failCalls(call: 'pwrite64' | 'fsync', error: 'EIO' | 'EROFS'): InjectTrouble {
  return async ({ database }, { pid }) => ({ database, pass: await failFromNowOn(pid, database, { call, error }) });
}

export const moveFile: InjectTrouble = ({ database }) => {
  const away = `${database}.away`;
  renameSync(database, away);
  return { database: undefined, pass: () => renameSync(away, database) };
};

export const moveFolder: InjectTrouble = ({ database }) => {
  const folder = dirname(database);
  const away = `${folder}-away`;
  renameSync(folder, away);
  return { database: join(away, 'leagues.db'), pass: () => renameSync(away, folder) };
};

/** Moves the file system to another mount point and back, like a disk that is unplugged and plugged in again. */
export const unmount: InjectTrouble = ({ disk, database, folder }) => {
  const away = join(folder, 'away');
  mkdirSync(away);
  mount('--bind', disk, away);
  umount(disk);
  let gone = true;
  const pass = (): void => {
    if (!gone) return;
    gone = false;
    mount('--bind', away, disk);
    umount(away);
  };
  onTestFinished(pass);
  return { database: database.replace(disk, away), pass };
};

export const mountOver: InjectTrouble = ({ disk }) => {
  mount('-t', 'tmpfs', 'tmpfs', disk);
  let over = true;
  const pass = (): void => {
    if (over) umount(disk);
    over = false;
  };
  onTestFinished(pass);
  return { database: undefined, pass };
};

function mount(...args: readonly string[]): void {
  execFileSync(MOUNT, args);
}

function umount(folder: string): void {
  execFileSync(UNMOUNT, ['-l', folder]);
}

const MOUNT = 'mount';
const UNMOUNT = 'umount';
