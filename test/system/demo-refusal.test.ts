import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { SimulatedBench } from '../support/bench.ts';
import { EVERY_SECOND } from '../support/bench.ts';
import { execute } from '../support/database.ts';
import { leaveDemo, runDemo, setUpPlace } from '../support/demo-path.ts';
import { fingerprint } from '../support/folder.ts';
import { eventually } from '../support/program.ts';

/** Kills a command right after it has opened the database: its service never answers. */
async function killAtOpening(place: SimulatedBench): Promise<void> {
  place.simulator.setFault('hang', true);
  const sync = place.start(['sync', '--service-moved']);
  await eventually('the service is asked', () => place.simulator.requests.length > 0);
  await sync.stop('SIGKILL');
  expect(readFileSync(`${place.database}-wal`).length).toBeGreaterThan(64);
}

async function killWorker(place: SimulatedBench): Promise<void> {
  const worker = place.start(['run'], { LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
  await worker.waitForPoll();
  await worker.waitForPoll();
  await worker.stop('SIGKILL');
}

async function syncOnce(place: SimulatedBench): Promise<void> {
  expect((await place.run(['sync', '--service-moved'])).code).toBe(0);
}

function fill(path: string, journal: 'delete' | 'wal'): Database.Database {
  mkdirSync(dirname(path), { recursive: true });
  const db = new Database(path);
  db.exec('CREATE TABLE letters (letter TEXT)');
  db.pragma(`journal_mode = ${journal}`);
  db.exec("INSERT INTO letters VALUES ('a')");
  return db;
}

const ONE_FILE = /delete or move demo-data\/leagues\.db, or start the demo in another folder/;
const WITH_LOG = /delete or move demo-data\/leagues\.db, demo-data\/leagues\.db-wal, demo-data\/leagues\.db-shm, or/;

type Make = (place: SimulatedBench) => Promise<void> | void;

const REFUSED: readonly (readonly [what: string, make: Make, fix?: RegExp])[] = [
  ['the database of a worker', syncOnce],
  ['the database of a worker that was killed', killWorker, WITH_LOG],
  [
    'a demo’s database after sync',
    async (place) => {
      await leaveDemo(place, 'SIGTERM');
      await syncOnce(place);
    },
  ],
  [
    'a demo’s database that sync had only opened when it was killed',
    async (place) => {
      await leaveDemo(place, 'SIGTERM');
      await killAtOpening(place);
    },
    WITH_LOG,
  ],
  [
    'the database of a killed demo that sync had only opened when it was killed, too',
    async (place) => {
      await leaveDemo(place, 'SIGKILL');
      await killAtOpening(place);
    },
    WITH_LOG,
  ],
  [
    'a demo’s database of version 0.1.0',
    ({ database }) => {
      mkdirSync(dirname(database));
      copyFileSync('test/fixtures/schema-1.db', database);
    },
  ],
  [
    'a log whose database was moved away',
    async (place) => {
      await leaveDemo(place, 'SIGKILL');
      rmSync(place.database);
    },
    /delete or move demo-data\/leagues\.db-wal, demo-data\/leagues\.db-shm, or/,
  ],
  [
    'a damaged database',
    async (place) => {
      await leaveDemo(place, 'SIGTERM');
      const bytes = readFileSync(place.database);
      writeFileSync(place.database, bytes.subarray(0, 4096 * 3));
    },
  ],
  [
    'a text',
    ({ database }) => {
      mkdirSync(dirname(database));
      writeFileSync(database, 'Dear diary, this is no database.\n'.repeat(100));
    },
  ],
  [
    'a text of five bytes',
    ({ database }) => {
      mkdirSync(dirname(database));
      writeFileSync(database, 'hello');
    },
  ],
  ['the database of another program', ({ database }) => void fill(database, 'delete').close()],
  [
    'the database of another program with a log',
    ({ database }) => {
      const other = join(dirname(dirname(database)), 'other.db');
      const db = fill(other, 'wal');
      mkdirSync(dirname(database));
      for (const part of ['', '-wal']) copyFileSync(other + part, database + part);
      db.close();
    },
    /delete or move demo-data\/leagues\.db, demo-data\/leagues\.db-wal, or/,
  ],
  [
    'an SQLite database without a table',
    ({ database }) => {
      mkdirSync(dirname(database));
      execute(database, 'PRAGMA user_version = 1');
    },
  ],
  ['a folder', ({ database }) => void mkdirSync(join(database, 'inside'), { recursive: true })],
  [
    'a link to a demo’s database elsewhere',
    async (place) => {
      await leaveDemo(place, 'SIGTERM');
      copyFileSync(place.database, join(place.folder, 'elsewhere.db'));
      rmSync(place.database);
      symlinkSync('../elsewhere.db', place.database);
    },
  ],
  [
    'a link to nothing',
    ({ database }) => {
      mkdirSync(dirname(database));
      symlinkSync('../nothing.db', database);
    },
  ],
  [
    'a folder demo-data that is a link to another one',
    ({ folder }) => {
      mkdirSync(join(folder, 'elsewhere'));
      symlinkSync('elsewhere', join(folder, 'demo-data'));
    },
    /delete or move demo-data, or/,
  ],
  [
    'a file in the place of the folder',
    ({ folder }) => writeFileSync(join(folder, 'demo-data'), 'text'),
    /delete or move demo-data, or/,
  ],
];

describe('what a demo did not make', () => {
  const cases = REFUSED.map(([what, make, fix = ONE_FILE]) => [what, make, fix] as const);
  it.each(cases)('is refused with 74, named, and left byte for byte: %s', async (_, make, fix) => {
    const place = await setUpPlace();
    await make(place);
    const before = treeOf(place.folder);
    const { code, stdout, stderr } = await runDemo(place);
    expect([code, stdout]).toEqual([74, '']);
    expect(stderr).toMatch(
      /^league-sync: demo-data\S* was not made by this version's demo, or a worker has written to it/,
    );
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
