import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { acquireLock, readLockStatus } from '../../src/store/worker-lock.ts';
import { mountDisk, NO_MOUNT } from '../support/copy-process.ts';
import { withDatabase } from '../support/database.ts';
import { type Folder, makeFolder } from '../support/folder.ts';

const SINCE = '2026-11-20T12:00:00.000Z';
const host = hostname();
const self = { pid: process.pid, host, since: SINCE };

let folder: Folder;
let path = '';

beforeEach(() => {
  folder = makeFolder();
  // The lock never reads the database.
  path = folder.write('leagues.db', '');
});

/** Leaves the lock file of a killed worker. */
function leaveLock(path: string, holder: typeof self): void {
  withDatabase(`${path}.lock`, (db) => {
    db.exec('CREATE TABLE holder (pid INTEGER, host TEXT, since TEXT)');
    db.prepare('INSERT INTO holder VALUES (?, ?, ?)').run(holder.pid, holder.host, holder.since);
  });
}

/** Takes the lock until its stdin ends. */
const HOLD = `
  const { acquireLock } = await import(process.env.LOCK_MODULE);
  const { HOST: host, SINCE: since } = process.env;
  using lock = acquireLock(process.env.DATABASE, { pid: process.pid, host, since, command: 'run' });
  console.log('held');
  for await (const _ of process.stdin);
`;

/** Another process that holds the lock: this process would lose a lock of its own by reading the file. */
async function startHolder(path: string, name = host) {
  const env = { ...process.env, LOCK_MODULE: resolve('src/store/worker-lock.ts'), DATABASE: path, HOST: name, SINCE };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', HOLD], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await once(child.stdout, 'data');
  const end = async (): Promise<void> => {
    child.stdin.end();
    await once(child, 'close');
  };
  const pid = child.pid ?? 0;
  return { holder: { ...self, host: name, pid, command: 'run' as const }, end };
}

it('a lock whose file another worker has made anew is released without deleting that file', async () => {
  const lock = acquireLock(path, self);
  rmSync(`${path}.lock`);
  const other = await startHolder(path);
  lock[Symbol.dispose]();
  expect(readLockStatus(path)).toEqual({ state: 'running', holder: other.holder });
  await other.end();
});

it('the lock file of root belongs to the user of the database, whom it must not keep out once root was killed', ({
  skip,
}) => {
  skip(process.getuid?.() !== 0, 'only root may change owners');
  chownSync(path, 65_534, 65_534);
  using _ = acquireLock(path, self);
  expect(statSync(`${path}.lock`)).toMatchObject({ uid: 65_534, gid: 65_534 });
  chownSync(path, 0, 0);
  expect(() => acquireLock(path, self)).toThrow();
  expect(statSync(`${path}.lock`)).toMatchObject({ uid: 65_534, gid: 65_534 });
});

describe('the lock status of a database', () => {
  it('names the owner of the lock, by any path of the database, until it is released', async () => {
    expect(readLockStatus(path)).toEqual({ state: 'none' });
    symlinkSync(path, folder.file('other.db'));
    const worker = await startHolder(path);
    for (const name of [path, folder.file('other.db')])
      expect(readLockStatus(name)).toEqual({ state: 'running', holder: worker.holder });
    await worker.end();
    expect(readLockStatus(path)).toEqual({ state: 'none' });
  });

  it('is read without locking or changing the file', async () => {
    leaveLock(path, { ...self, pid: 1 });
    const before = readFileSync(`${path}.lock`);
    readLockStatus(path);
    expect(readFileSync(`${path}.lock`)).toEqual(before);
    expect(existsSync(`${path}.lock-journal`)).toBe(false);
    const worker = await startHolder(path);
    readLockStatus(path);
    expect(() => acquireLock(path, self)).toThrow(String(worker.holder.pid));
    await worker.end();
  });

  it('is none if the owner was killed, also if another process has its pid, or on a full disk', () => {
    leaveLock(path, self);
    expect(readLockStatus(path)).toEqual({ state: 'none' });
    writeFileSync(`${path}.lock`, '');
    expect(readLockStatus(path)).toEqual({ state: 'none' });
  });

  it('is running if the lock is held by a process of another container', async () => {
    const { holder, end } = await startHolder(path, 'another-container');
    expect(readLockStatus(path)).toEqual({ state: 'running', holder });
    await end();
  });

  it('is none if a file with the same inode on another disk is locked', async ({ skip }) => {
    const disks = ['one', 'other'].map((name) => mountDisk(folder.file(name), 'size=1m'));
    const [held = '', killed = ''] = disks.map((disk) => join(disk ?? '', 'leagues.db'));
    if (disks.includes(undefined)) return skip(NO_MOUNT);
    const worker = await startHolder(held);
    leaveLock(killed, self);
    expect(statSync(`${killed}.lock`).ino).toBe(statSync(`${held}.lock`).ino);
    expect(readLockStatus(killed)).toEqual({ state: 'none' });
    expect(readLockStatus(held)).toEqual({ state: 'running', holder: worker.holder });
    await worker.end();
  });

  it('is unknown if the owner is on another host and its lock is not seen here, or the file is damaged', () => {
    leaveLock(path, { ...self, host: 'elsewhere' });
    expect(readLockStatus(path)).toEqual({ state: 'unknown', holder: { ...self, host: 'elsewhere' } });
    writeFileSync(`${path}.lock`, 'no lock file at all');
    expect(readLockStatus(path)).toEqual({ state: 'unknown', holder: undefined });
  });
});

describe('the lock file and older versions', () => {
  /** What 0.1.0 does with the file. */
  const takeLikeOlder = (path: string, pid: number): void =>
    withDatabase(`${path}.lock`, (db) => {
      db.exec('CREATE TABLE IF NOT EXISTS holder (pid INTEGER, host TEXT, since TEXT); DELETE FROM holder');
      db.prepare('INSERT INTO holder VALUES (@pid, @host, @since)').run({
        pid,
        host: 'elsewhere',
        since: '2026-11-20T13:00:00.000Z',
      });
    });

  it('an older version takes over the file of a killed worker, and what that left about itself no longer counts', async () => {
    const worker = await startHolder(path);
    process.kill(worker.holder.pid, 'SIGKILL');
    await worker.end();
    expect(existsSync(`${path}.lock`)).toBe(true);
    takeLikeOlder(path, worker.holder.pid);
    expect(readLockStatus(path)).toEqual({
      state: 'unknown',
      holder: { pid: worker.holder.pid, host: 'elsewhere', since: '2026-11-20T13:00:00.000Z' },
    });
  });

  it('this version takes over the file of an older one', async () => {
    takeLikeOlder(path, 1);
    const worker = await startHolder(path);
    expect(readLockStatus(path)).toEqual({ state: 'running', holder: worker.holder });
    await worker.end();
  });
});

it('a program that reads the lock file is not taken for the worker that it names', () => {
  leaveLock(path, { ...self, pid: 2 ** 22 });
  withDatabase(`${path}.lock`, (reader) => {
    reader.exec('BEGIN; SELECT * FROM holder');
    expect(() => acquireLock(path, self)).toThrow(`another program has ${path}.lock open`);
    expect(readLockStatus(path)).toEqual({ state: 'none' });
  });
  using _lock = acquireLock(path, self);
});
