import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addSettings, EVERY_SECOND, type SimulatedBench, setUp } from '../support/bench.ts';
import { runCommand } from '../support/command.ts';
import { readRows } from '../support/database.ts';
import { fingerprint, makeFolder } from '../support/folder.ts';
import { eventually, startProgram } from '../support/program.ts';

const DATABASE = 'demo-data/leagues.db';
const PARTS = ['', '-wal', '-shm'];

/** The files of two demos that have polled and were ended by these signals, by the end of their names. */
const left = new Map<NodeJS.Signals, ReadonlyMap<string, Buffer>>();

function startDemo(cwd: string) {
  return startProgram(['demo'], { cwd });
}

/** An empty bench for a demo and a worker, whose database is at the path of the demo. */
async function setUpPlace(): Promise<SimulatedBench> {
  const bench = await setUp();
  const database = join(bench.folder, DATABASE);
  const rows = (sql: string) => readRows(database, sql);
  return { ...addSettings(bench, { LEAGUE_SYNC_DATABASE: database }), database, rows };
}

type Make = (place: SimulatedBench) => Promise<void> | void;

async function endDemo(signal: NodeJS.Signals): Promise<ReadonlyMap<string, Buffer>> {
  const { path: cwd } = makeFolder();
  const demo = startDemo(cwd);
  await demo.waitForPoll('changed');
  await demo.stop(signal);
  const parts = PARTS.filter((part) => existsSync(join(cwd, DATABASE + part)));
  return new Map(parts.map((part) => [part, readFileSync(join(cwd, DATABASE + part))]));
}

/** Leaves what a demo left that was ended by this signal. */
const leave =
  (signal: NodeJS.Signals): Make =>
  async ({ database }) => {
    const files = left.get(signal) ?? (await endDemo(signal));
    left.set(signal, files);
    mkdirSync(dirname(database));
    for (const [part, content] of files) writeFileSync(database + part, content);
  };

/** Writes a file at the path of the database. */
const write =
  (content: string | Buffer): Make =>
  ({ database }) => {
    mkdirSync(dirname(database));
    writeFileSync(database, content);
  };

const all =
  (...steps: readonly Make[]): Make =>
  async (place) => {
    for (const step of steps) await step(place);
  };

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

/** A hot journal of a first transaction that was killed before its commit: the database had no pages before. */
function writeHotJournal({ database }: SimulatedBench): void {
  const header = Buffer.alloc(512);
  header.write('d9d505f920a163d7', 'hex');
  // Sector size and page size; the number of pages in the journal, and of the original database: none.
  header.writeUInt32BE(512, 20);
  header.writeUInt32BE(4096, 24);
  writeFileSync(`${database}-journal`, header);
}

/** Replaces the database of a demo by a link to it. */
function makeLink({ folder, database }: SimulatedBench): void {
  copyFileSync(database, join(folder, 'elsewhere.db'));
  rmSync(database);
  symlinkSync('../elsewhere.db', database);
}

const WITH_LOG = [DATABASE, `${DATABASE}-wal`, `${DATABASE}-shm`];

const REFUSED: readonly (readonly [what: string, make: Make, named?: readonly string[]])[] = [
  ['the database of a worker that was killed', killWorker, WITH_LOG],
  ['a demo’s database that sync had only opened when it was killed', all(leave('SIGTERM'), killAtOpening), WITH_LOG],
  ['a log whose database was moved away', all(leave('SIGKILL'), (it) => rmSync(it.database)), WITH_LOG.slice(1)],
  ['a folder', ({ database }) => void mkdirSync(join(database, 'inside'), { recursive: true })],
  ['a link to a demo’s database elsewhere', all(leave('SIGTERM'), makeLink)],
  [
    'a folder demo-data that is a link to another one',
    ({ folder }) => {
      mkdirSync(join(folder, 'elsewhere'));
      symlinkSync('elsewhere', join(folder, 'demo-data'));
    },
    ['demo-data'],
  ],
];

describe('what a demo did not make', () => {
  const cases = REFUSED.map(([what, make, named = [DATABASE]]) => [what, make, named] as const);
  it.each(cases)('is refused with 74, named, and left byte for byte: %s', async (_, make, named) => {
    const place = await setUpPlace();
    await make(place);
    const before = treeOf(place.folder);
    const { code, stdout, stderr } = await runDemo(place);
    expect([code, stdout]).toEqual([74, '']);
    expect(stderr).toMatch(
      /^league-sync: demo-data\S* was not made by this version's demo, or a worker has written to it/,
    );
    expect(stderr).toContain(`delete or move ${named.join(', ')}, or start the demo in another folder`);
    expect(treeOf(place.folder)).toEqual(before);
  });
});

/** Runs a demo that must be refused. */
function runDemo({ folder }: SimulatedBench) {
  return runCommand(['demo', '--for', '300ms'], { cwd: folder });
}

/** All that is below a folder, except for a lock file left behind: the next holder removes it. */
function treeOf(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fingerprint(folder)).filter(([name]) => !name.endsWith('.lock')));
}

const REPLACED: readonly (readonly [what: string, make: Make])[] = [
  ['an empty file', write('')],
  ['the database of a killed demo', leave('SIGKILL')],
  ['a file whose first transaction was cut short', all(leave('SIGTERM'), writeHotJournal)],
  [
    'a demo’s database that was only read since',
    all(leave('SIGTERM'), async (place) => {
      for (const args of [['status'], ['changes'], ['check'], ['backup', 'copy.db']])
        expect((await place.run(args)).code).toBeLessThan(2);
      // It belongs to the simulated service of the demo.
      for (const args of [['sync', '--dry-run'], ['sync'], ['profile'], ['run']])
        expect((await place.run(args)).code).toBe(78);
    }),
  ],
];

describe('the place of a demo', () => {
  it.each(REPLACED)('is taken if it holds %s', async (_, make) => {
    const place = await setUpPlace();
    await make(place);
    const before = existsSync(place.database) ? readFileSync(place.database) : Buffer.alloc(0);
    const demo = startDemo(place.folder);
    await demo.waitForPoll('changed');
    expect(await demo.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(dirname(place.database))).toEqual(['leagues.db']);
    expect(readFileSync(place.database).equals(before)).toBe(false);
    const added = "SELECT count(*) AS n FROM league_changes WHERE run_id = 1 AND kind = 'added'";
    expect(place.rows(added)).toEqual([{ n: 124 }]);
  });

  it('is refused with 75, and nothing deleted, while a demo runs there', async () => {
    const place = await setUpPlace();
    {
      const worker = startDemo(place.folder);
      await worker.waitForPoll('changed');
      expect(await runDemo(place)).toMatchObject({
        code: 75,
        stdout: '',
        stderr: expect.stringContaining(`process ${worker.pid} `),
      });
      await worker.waitForPoll();
      expect((await worker.stop()).code).toBe(0);
      expect(Number(place.rows('SELECT count(*) AS n FROM leagues')[0]?.n)).toBeGreaterThanOrEqual(124);
    }
  });
});
