import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acquireLock, readLockStatus } from '../../src/store/lock.ts';
import { withDatabase } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';

const SINCE = '2026-11-20T12:00:00.000Z';
const host = hostname();
const self = { pid: process.pid, host, since: SINCE };
const isAlive = () => true;

/** An empty file in place of a database, which the lock never reads. */
function makeDatabase(folder: ReturnType<typeof makeFolder>): string {
  const path = folder.file('leagues.db');
  writeFileSync(path, '');
  return path;
}

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
  using lock = acquireLock(process.env.DATABASE, { pid: process.pid, host: process.env.HOST, since: process.env.SINCE });
  console.log('held');
  for await (const _ of process.stdin);
`;

/** Another process that holds the lock: this process would lose a lock of its own by reading the file. */
async function startHolder(path: string) {
  const env = { ...process.env, LOCK_MODULE: resolve('src/store/lock.ts'), DATABASE: path, HOST: host, SINCE };
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
  return { holder: { ...self, pid: child.pid ?? 0 }, end };
}

it('a lock whose file another worker has made anew is released without deleting that file', async () => {
  using folder = makeFolder();
  const path = makeDatabase(folder);
  const lock = acquireLock(path, self);
  rmSync(`${path}.lock`);
  const other = await startHolder(path);
  lock[Symbol.dispose]();
  expect(readLockStatus(path, { host, isAlive })).toEqual({ state: 'running', holder: other.holder });
  await other.end();
});

describe('the lock status of a database', () => {
  it('names the owner of the lock, by any path of the database, until it is released', async () => {
    using folder = makeFolder();
    const path = makeDatabase(folder);
    expect(readLockStatus(path, { host, isAlive })).toEqual({ state: 'none' });
    symlinkSync(path, folder.file('other.db'));
    const worker = await startHolder(path);
    for (const name of [path, folder.file('other.db')])
      expect(readLockStatus(name, { host, isAlive })).toEqual({ state: 'running', holder: worker.holder });
    await worker.end();
    expect(readLockStatus(path, { host, isAlive })).toEqual({ state: 'none' });
  });

  it('is read without locking or changing the file', async () => {
    using folder = makeFolder();
    const path = makeDatabase(folder);
    leaveLock(path, { ...self, pid: 1 });
    const before = readFileSync(`${path}.lock`);
    readLockStatus(path, { host, isAlive });
    expect(readFileSync(`${path}.lock`)).toEqual(before);
    expect(existsSync(`${path}.lock-journal`)).toBe(false);
    const worker = await startHolder(path);
    readLockStatus(path, { host, isAlive });
    expect(() => acquireLock(path, self)).toThrow(String(worker.holder.pid));
    await worker.end();
  });

  it.skipIf(process.platform !== 'linux')(
    'is none if the owner was killed and its pid belongs to another process',
    () => {
      using folder = makeFolder();
      const path = makeDatabase(folder);
      leaveLock(path, self);
      expect(readLockStatus(path, { host, isAlive })).toEqual({ state: 'none' });
    },
  );

  it('is none if the owner was killed and no process has its pid', () => {
    using folder = makeFolder();
    const path = makeDatabase(folder);
    const { pid } = spawnSync('true');
    leaveLock(path, { ...self, pid });
    expect(readLockStatus(path, { host, isAlive: () => false })).toEqual({ state: 'none' });
  });

  it('is unknown if the owner is on another host, or the file names none', () => {
    using folder = makeFolder();
    const path = makeDatabase(folder);
    leaveLock(path, { ...self, host: 'elsewhere' });
    expect(readLockStatus(path, { host, isAlive })).toEqual({
      state: 'unknown',
      holder: { ...self, host: 'elsewhere' },
    });
    for (const content of ['', 'no lock file at all']) {
      writeFileSync(`${path}.lock`, content);
      expect(readLockStatus(path, { host, isAlive })).toEqual({ state: 'unknown', holder: undefined });
    }
  });
});
