import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { EVERY_SECOND } from '../../support/bench.ts';
import { NO_MOUNT } from '../../support/copy-process.ts';
import { askSqlite3 } from '../../support/database.ts';
import { findFreePort } from '../../support/port.ts';
import type { RunningProgram } from '../../support/program.ts';
import { expectSound } from '../syscalls/check.ts';
import { failFromNowOn, missingStrace } from '../syscalls/syscall.ts';
import { AS_NOBODY, type DiskBench, expectFailedPoll, fillDisk, setUpDisk, tableOf } from './small-disk.ts';

beforeEach(({ skip }) => {
  const why = missingStrace() ?? (process.getuid?.() === 0 ? undefined : NO_MOUNT);
  skip(why !== undefined, why);
});

/** The message for a missing file. */
const PUT_BACK =
  /was deleted, moved or replaced while the worker ran; nothing new is written; .*put that same file back/;

async function setUp(inside?: string): Promise<DiskBench> {
  const bench = await setUpDisk(inside);
  if (bench === undefined) throw new Error(NO_MOUNT);
  return bench;
}

/** Starts a worker that polls on SIGHUP, and waits for the first list. */
async function start(): Promise<{ bench: DiskBench; worker: RunningProgram }> {
  const bench = await setUp('data');
  const worker = bench.start(['run']);
  await worker.waitForPoll('changed');
  return { bench, worker };
}

/** A problem with the disk of a running worker. */
type Trouble = {
  /** The path of the database in the meantime; undefined if it is unreachable. */
  readonly database: string | undefined;
  /** Ends the problem. */
  readonly pass: () => Promise<void> | void;
};

function moveFile({ database }: DiskBench): Trouble {
  const away = `${database}.away`;
  renameSync(database, away);
  return { database: undefined, pass: () => renameSync(away, database) };
}

const [MOUNT, UNMOUNT] = ['mount', 'umount'];

/** Moves the file system to another mount point and back, like a disk that is unplugged and plugged in again. */
function unmount({ disk, database, folder }: DiskBench): Trouble {
  const away = join(folder, 'away');
  mkdirSync(away);
  const move = (from: string, to: string): void => {
    execFileSync(MOUNT, ['--bind', from, to]);
    execFileSync(UNMOUNT, ['-l', from]);
  };
  move(disk, away);
  let gone = true;
  const pass = (): void => {
    if (gone) move(away, disk);
    gone = false;
  };
  onTestFinished(pass);
  return { database: database.replace(disk, away), pass };
}

type Case = readonly [
  what: string,
  cause: (bench: DiskBench, worker: RunningProgram) => Trouble | Promise<Trouble>,
  fix: RegExp,
];

const CASES: readonly Case[] = [
  // A poll of the whole list needs more pages.
  ...[0, 3, 13].map(
    (pages): Case => [
      `has room for ${pages} pages`,
      ({ disk, database }) => {
        const filler = fillDisk(disk, pages);
        return { database, pass: () => rmSync(filler) };
      },
      /the disk is full \(SQLITE_FULL\); free some space\.$/,
    ],
  ),
  ...(
    [
      ['has been made read-only by its kernel', 'pwrite64', 'EROFS'],
      ['keeps nothing', 'fsync', 'EIO'],
    ] as const
  ).map(
    ([what, call, error]): Case => [
      what,
      async ({ database }, { pid }) => ({ database, pass: await failFromNowOn(pid, database, { call, error }) }),
      /; check the disk\.$/,
    ],
  ),
  ['has lost the file', moveFile, PUT_BACK],
  ['is unmounted', unmount, PUT_BACK],
];

const READING = [['status'], ['query', 'SELECT 1'], ['changes'], ['accept-removals']] as const;

/** Readers get the old data if there is any, otherwise an error that says why not. */
async function expectReaders(bench: DiskBench, { database }: Trouble, before: readonly unknown[]) {
  if (database !== undefined) expect(tableOf({ rows: (sql) => askSqlite3(database, sql) })).toEqual(before);
  const isThere = database === bench.database;
  for (const command of READING) {
    const { code, stderr } = await bench.run(command);
    expect(code, `${command[0]}\n${stderr}`).toBe(isThere ? 0 : 74);
    if (!isThere) expect(stderr).toMatch(/There is no database at|is gone: a worker has used it/);
  }
  expect(existsSync(bench.database)).toBe(isThere);
}

async function expectCatchesUp(bench: DiskBench, worker: RunningProgram, before: readonly unknown[]): Promise<void> {
  expect((await worker.pollNow()).outcome).toBe('changed');
  expect(tableOf(bench)).toHaveLength(1);
  expect(tableOf(bench)).not.toEqual(before);
  expect(bench.rows("SELECT id FROM runs WHERE outcome IN ('running', 'interrupted')")).toEqual([]);
  expect((await worker.stop()).code).toBe(0);
  expectSound(bench, 'after its end');
  expect(readdirSync(dirname(bench.database))).toEqual(['leagues.db']);
}

describe('a worker whose disk', () => {
  it.each(CASES)(
    '%s says what to do at each poll, makes no file, leaves the old data, and goes on by itself after',
    async (_, cause, fix) => {
      const { bench, worker } = await start();
      const before = tableOf(bench);
      const trouble = await cause(bench, worker);
      bench.change();
      for (let failures = 0; failures < 2; failures += 1) await expectFailedPoll(bench, worker, fix);
      await expectReaders(bench, trouble, before);
      await trouble.pass();
      await expectCatchesUp(bench, worker, before);
    },
  );

  it('fills up: status says what only the worker knows, and keeps the verdict of the file', async () => {
    const bench = await setUp();
    const env = { LEAGUE_SYNC_LISTEN: `127.0.0.1:${await findFreePort()}`, LEAGUE_SYNC_SCHEDULE: EVERY_SECOND };
    const worker = bench.start(['run'], env);
    await worker.waitForPoll('changed');
    expect((await bench.run(['status'], env)).stdout).not.toContain('worker says');
    const filler = fillDisk(bench.disk, 0);
    bench.change();
    await worker.waitForPoll('failed');
    rmSync(filler);
    await worker.waitForPoll('changed');
    fillDisk(bench.disk, 0);
    bench.change();
    await worker.waitForPoll('failed');
    expect((await bench.run(['status'], env)).stdout).toMatch(
      /^● up to date[\s\S]*^worker says +The database .* full/m,
    );
  });

  it.each(['says so at a poll', 'ends with 0'])('was closed to it %s', async (what) => {
    const bench = await setUp('data');
    const folder = dirname(bench.database);
    chmodSync(bench.folder, 0o755);
    chmodSync(folder, 0o777);
    const worker = bench.start(['run'], {}, { through: AS_NOBODY });
    await worker.waitForPoll('changed');
    chmodSync(folder, 0o700);
    if (what === 'ends with 0') expect(await worker.stop()).toMatchObject({ code: 0, stderr: '' });
    else await expectFailedPoll(bench, worker, /permission/);
  });
});

it('what another user writes to the files of a killed worker, in a folder that is not theirs, leaves them as they must be', async () => {
  const { bench, worker } = await start();
  await worker.stop('SIGKILL');
  chmodSync(bench.folder, 0o755);
  for (const suffix of ['', '-wal', '-shm']) chmodSync(bench.database + suffix, 0o666);
  const skipping = ['webhook', 'skip'];
  expect(await bench.runProcess(skipping, {}, { through: AS_NOBODY })).toMatchObject({ code: 0 });
  expect((await bench.run(['status'])).code).toBe(0);
  expect((await bench.run(['sync'])).code).toBe(0);
});

describe('a worker whose database is', () => {
  it('moved away with its folder leaves, at its end, the lock and the log of the worker that took its place', async () => {
    const { bench, worker } = await start();
    renameSync(dirname(bench.database), join(bench.disk, 'away'));
    await expectFailedPoll(bench, worker, PUT_BACK);
    const next = bench.start(['run']);
    await next.waitForPoll('changed');
    const log = readFileSync(`${bench.database}-wal`);
    expect(log.length).toBeGreaterThan(0);
    expect((await worker.stop()).code).toBe(0);
    expect((await bench.run(['sync'])).code).toBe(75);
    expect(readFileSync(`${bench.database}-wal`).equals(log)).toBe(true);
    expect((await next.stop('SIGKILL')).signal).toBe('SIGKILL');
    expect(tableOf(bench)).toEqual([{ sport: 'sport 0', n: 100 }]);
    expectSound(bench, 'the next one');
  });

  it('one whose lock was deleted has it again, so that no second worker writes', async () => {
    const { bench } = await start();
    rmSync(`${bench.database}.lock`);
    await expect.poll(() => existsSync(`${bench.database}.lock`), { timeout: 10_000 }).toBe(true);
    expect((await bench.run(['sync'])).code).toBe(75);
  });
});
