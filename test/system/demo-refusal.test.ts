import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { SimulatedBench } from '../support/bench.ts';
import { EVERY_SECOND } from '../support/bench.ts';
import { execute } from '../support/database.ts';
import { leaveDemo, runDemo, setUpPlace } from '../support/demo-path.ts';
import { fingerprint } from '../support/folder.ts';

/** Kills a worker right after it has opened the database: its service never answers. */
async function killAtOpening(place: SimulatedBench): Promise<void> {
  place.simulator.setFault('hang', true);
  const worker = place.start(['run']);
  await worker.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
  await worker.stop('SIGKILL');
  expect(readFileSync(`${place.database}-wal`).length).toBeGreaterThan(64);
}

async function killWorker(place: SimulatedBench): Promise<void> {
  const worker = place.start(['run'], { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
  await worker.waitForPoll();
  await worker.waitForPoll();
  await worker.stop('SIGKILL');
}

async function syncOnce(place: SimulatedBench): Promise<void> {
  expect((await place.run(['sync'])).code).toBe(0);
}

function fill(path: string, journal: 'delete' | 'wal'): Database.Database {
  mkdirSync(dirname(path), { recursive: true });
  const db = new Database(path);
  db.exec('CREATE TABLE letters (letter TEXT)');
  db.pragma(`journal_mode = ${journal}`);
  db.exec("INSERT INTO letters VALUES ('a')");
  return db;
}

const IS_USED = /leagues\.db is a league-sync database without the mark of a demo: a worker has written to it/;
const ONE_FILE = /delete or move demo-data\/leagues\.db, or start the demo in another folder/;
const WITH_LOG = /delete or move demo-data\/leagues\.db, demo-data\/leagues\.db-wal, demo-data\/leagues\.db-shm, or/;

type Make = (place: SimulatedBench) => Promise<void> | void;

const REFUSED: readonly (readonly [what: string, make: Make, is: RegExp, fix?: RegExp])[] = [
  ['the database of a worker', syncOnce, IS_USED],
  ['the database of a worker that was killed', killWorker, IS_USED, WITH_LOG],
  [
    'a demo’s database after sync',
    async (place) => {
      await leaveDemo(place, 'SIGTERM');
      await syncOnce(place);
    },
    IS_USED,
  ],
  [
    'a demo’s database after profile',
    async (place) => {
      await leaveDemo(place, 'SIGTERM');
      expect((await place.run(['profile'])).code).toBe(0);
    },
    IS_USED,
  ],
  [
    'a demo’s database that a worker had only opened when it was killed',
    async (place) => {
      await leaveDemo(place, 'SIGTERM');
      await killAtOpening(place);
    },
    IS_USED,
    WITH_LOG,
  ],
  [
    'the database of a killed demo that a worker had only opened when it was killed, too',
    async (place) => {
      await leaveDemo(place, 'SIGKILL');
      await killAtOpening(place);
    },
    IS_USED,
    WITH_LOG,
  ],
  [
    'a demo’s database of version 0.1.0',
    ({ database }) => {
      mkdirSync(dirname(database));
      copyFileSync('test/fixtures/schema-1.db', database);
    },
    /an earlier version of the demo made it/,
  ],
  [
    'a log whose database was moved away',
    async (place) => {
      await leaveDemo(place, 'SIGKILL');
      rmSync(place.database);
    },
    /leagues\.db is missing, but its WAL is there/,
    /delete or move demo-data\/leagues\.db-wal, demo-data\/leagues\.db-shm, or/,
  ],
  [
    'a damaged database',
    async (place) => {
      await leaveDemo(place, 'SIGTERM');
      const bytes = readFileSync(place.database);
      writeFileSync(place.database, bytes.subarray(0, 4096 * 3));
    },
    /leagues\.db is a league-sync database that cannot be read \(SQLITE_CORRUPT\)/,
  ],
  [
    'a text',
    ({ database }) => {
      mkdirSync(dirname(database));
      writeFileSync(database, 'Dear diary, this is no database.\n'.repeat(100));
    },
    /leagues\.db is not an SQLite database/,
  ],
  [
    'a text of five bytes',
    ({ database }) => {
      mkdirSync(dirname(database));
      writeFileSync(database, 'hello');
    },
    /leagues\.db is not an SQLite database/,
  ],
  [
    'the database of another program',
    ({ database }) => void fill(database, 'delete').close(),
    /leagues\.db is the database of another program/,
  ],
  [
    'the database of another program with a log',
    ({ database }) => {
      const other = join(dirname(dirname(database)), 'other.db');
      const db = fill(other, 'wal');
      mkdirSync(dirname(database));
      for (const part of ['', '-wal']) copyFileSync(other + part, database + part);
      db.close();
    },
    /leagues\.db is the database of another program/,
    /delete or move demo-data\/leagues\.db, demo-data\/leagues\.db-wal, or/,
  ],
  [
    'an SQLite database without a table',
    ({ database }) => {
      mkdirSync(dirname(database));
      execute(database, 'PRAGMA user_version = 1');
    },
    /leagues\.db is the database of another program/,
  ],
  [
    'a folder',
    ({ database }) => void mkdirSync(join(database, 'inside'), { recursive: true }),
    /leagues\.db is a folder/,
  ],
  [
    'a link to a demo’s database elsewhere',
    async (place) => {
      await leaveDemo(place, 'SIGTERM');
      copyFileSync(place.database, join(place.folder, 'elsewhere.db'));
      rmSync(place.database);
      symlinkSync('../elsewhere.db', place.database);
    },
    /leagues\.db is a link/,
  ],
  [
    'a link to nothing',
    ({ database }) => {
      mkdirSync(dirname(database));
      symlinkSync('../nothing.db', database);
    },
    /leagues\.db is a link/,
  ],
  [
    'a folder demo-data that is a link to another one',
    ({ folder }) => {
      mkdirSync(join(folder, 'elsewhere'));
      symlinkSync('elsewhere', join(folder, 'demo-data'));
    },
    /demo-data is a link\./,
    /delete or move demo-data, or/,
  ],
  [
    'a file in the place of the folder',
    ({ folder }) => writeFileSync(join(folder, 'demo-data'), 'text'),
    /demo-data is a file, not a folder\./,
    /delete or move demo-data, or/,
  ],
];

describe('what a demo did not make', () => {
  const cases = REFUSED.map(([what, make, is, fix = ONE_FILE]) => [what, make, is, fix] as const);
  it.each(cases)('is refused with 74, named, and left byte for byte: %s', async (_, make, is, fix) => {
    const place = await setUpPlace();
    await make(place);
    const before = treeOf(place.folder);
    const { code, stdout, stderr } = await runDemo(place);
    expect([code, stdout]).toEqual([74, '']);
    expect(stderr).toMatch(/^league-sync: demo-data/);
    expect(stderr).toMatch(is);
    expect(stderr).toMatch(fix);
    expect(treeOf(place.folder)).toEqual(before);
  });

  it('is refused with 74 if a FIFO is in the place of its log, without waiting for a reader', async () => {
    const place = await setUpPlace();
    await leaveDemo(place, 'SIGTERM');
    mkdirSync(`${place.database}-wal`);
    const before = treeOf(place.folder);
    const { code, stderr } = await runDemo(place);
    expect([code, stderr]).toEqual([74, expect.stringContaining('leagues.db-wal is not a regular file')]);
    expect(treeOf(place.folder)).toEqual(before);
  });
});

/** All that is below a folder, except for a lock file left behind: the next holder removes it. */
function treeOf(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fingerprint(folder)).filter(([name]) => !name.endsWith('.lock')));
}
