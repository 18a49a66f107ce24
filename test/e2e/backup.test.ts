import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { missingStrace } from '../rigs/syscalls/syscall.ts';
import { type Bench, EVERY_SECOND, setUp, setUpSynced } from '../support/bench.ts';
import { freezeCopy, mountDisk, NO_MOUNT, pad } from '../support/copy-process.ts';
import { dumpTables, readRows } from '../support/database.ts';
import { fingerprint } from '../support/folder.ts';

/** The copy process is suspended, so waiting for it would never end. */
const AT_ONCE_MS = 2_000;

/** A database that takes long to copy. */
async function setUpLarge(): Promise<Bench & { readonly copies: string }> {
  const bench = await setUpSynced();
  pad(bench.database);
  const copies = join(bench.folder, 'copies');
  mkdirSync(copies);
  return { ...bench, copies };
}

function modeOf(path: string): string {
  return (lstatSync(path).mode & 0o777).toString(8);
}

/** Clears the umask, so that files get exactly the requested permissions. */
function dropUmask(): void {
  const umask = process.umask(0);
  onTestFinished(() => {
    process.umask(umask);
  });
}

describe('a backup', () => {
  it('is refused the names that the database needs for its other files', async () => {
    const bench = await setUpSynced();
    for (const suffix of ['-wal', '-shm', '-journal', '.lock']) {
      const { code, stderr } = await bench.run(['backup', `${bench.database}${suffix}`]);
      expect([code, stderr]).toEqual([64, expect.stringContaining(`leagues.db${suffix}`)]);
    }
    expect(readdirSync(dirname(bench.database))).toEqual(['leagues.db']);
  });

  it('refuses an empty name, and one that ends with a slash', async () => {
    const bench = await setUpSynced();
    for (const name of ['copies/', '']) expect((await bench.run(['backup', name])).code).toBe(64);
    expect(readdirSync(bench.folder)).toEqual(['data']);
  });

  it('contains what a killed worker had stored, and does not change the WAL', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    await worker.stop('SIGKILL');
    expect(existsSync(`${bench.database}-wal`)).toBe(true);
    const file = join(bench.folder, 'copy.db');
    expect((await bench.run(['backup', file])).code).toBe(0);
    expectWholeState(file);
    expect(dumpTables(file)).toEqual(dumpTables(bench.database));
  });
});

describe('at a path that exists already', () => {
  const inTheWay: Readonly<Record<string, (file: string, database: string) => void>> = {
    'a file': (file) => writeFileSync(file, 'Dear diary'),
    'an empty file': (file) => writeFileSync(file, ''),
    'an earlier backup': (file, database) => copyFileSync(database, file),
    'a folder': (file) => mkdirSync(file),
    'a link that leads nowhere': (file) => symlinkSync(`${file}.gone`, file),
    'a link to the database': (file, database) => symlinkSync(database, file),
    'another name of the database': (file, database) => linkSync(database, file),
  };

  it('what is there is not changed; exit code 64', async () => {
    const bench = await setUpSynced();
    const file = join(bench.folder, 'copy.db');
    for (const [what, make] of Object.entries(inTheWay)) {
      make(file, bench.database);
      const before = fingerprint(bench.folder);
      const { code, stderr } = await bench.run(['backup', 'copy.db']);
      expect([code, stderr], what).toEqual([64, expect.stringContaining(file)]);
      expect(fingerprint(bench.folder), what).toEqual(before);
      rmSync(file, { recursive: true });
    }
  });

  it('that is the database itself is not changed; exit code 64', async () => {
    const bench = await setUpSynced();
    const before = fingerprint(bench.folder);
    expect((await bench.run(['backup', 'data/leagues.db'])).code).toBe(64);
    expect(fingerprint(bench.folder)).toEqual(before);
  });
});

describe('a failing backup', () => {
  it('for want of the folder exits 64 and makes none', async () => {
    const bench = await setUpSynced();
    const before = fingerprint(bench.folder);
    const { code, stderr } = await bench.run(['backup', 'missing/copy.db']);
    expect([code, stderr]).toEqual([64, expect.stringContaining(join(bench.folder, 'missing'))]);
    expect(fingerprint(bench.folder)).toEqual(before);
  });

  it('for lack of permission exits 74, names the path and the fix, and leaves nothing', async ({ skip }) => {
    const bench = await setUpSynced();
    const folder = mountDisk(join(bench.folder, 'disk'), 'ro');
    if (folder === undefined) return skip(NO_MOUNT);
    const file = join(folder, 'copy.db');
    const { code, stderr } = await bench.run(['backup', file]);
    expect(code).toBe(74);
    expect(stderr).toContain(file);
    expect(stderr).toMatch(/read-only file system .*; remount it read-write/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('for lack of space exits 74, names the path and the fix, and leaves nothing', async ({ skip }) => {
    const bench = await setUpSynced();
    const folder = mountDisk(join(bench.folder, 'disk'), 'size=128k');
    if (folder === undefined) return skip(NO_MOUNT);
    const file = join(folder, 'copy.db');
    const { code, stderr } = await bench.run(['backup', file]);
    expect(code).toBe(74);
    expect(stderr).toContain(file);
    expect(stderr).toMatch(/disk is full.*free some space/);
    expect(readdirSync(folder)).toEqual([]);
    expect((await bench.run(['status'])).code).toBe(0);
  });
});

describe('who may read a backup', () => {
  it('is who may read the database, and nobody may write it but this user', async () => {
    const bench = await setUpSynced();
    dropUmask();
    for (const [mode, expected] of [
      ['600', '600'],
      ['640', '640'],
      ['666', '644'],
    ] as const) {
      chmodSync(bench.database, mode);
      expect((await bench.run(['backup', `${mode}.db`])).code).toBe(0);
      expect(modeOf(join(bench.folder, `${mode}.db`))).toBe(expected);
    }
  });

  it('is the group as well if a sandbox denies chown', async ({ skip }) => {
    skip(missingStrace() !== undefined, missingStrace());
    const bench = await setUpSynced();
    chmodSync(bench.database, 0o640);
    const injected = ['-e', 'trace=fchown', '-e', 'inject=fchown:error=EPERM'];
    const through = ['strace', '-f', '-qq', '-o', join(bench.folder, 'trace.txt'), ...injected];
    expect((await bench.runProcess(['backup', 'copy.db'], {}, { through })).code).toBe(0);
    expect(modeOf(join(bench.folder, 'copy.db'))).toBe('640');
  });

  it('is only this user while it is being written', async () => {
    const bench = await setUpLarge();
    chmodSync(bench.database, 0o600);
    dropUmask();
    const backup = bench.start(['backup', 'copies/copy.db']);
    const copying = await freezeCopy(backup.pid, bench.copies);
    const modes = readdirSync(bench.copies).map((name) => modeOf(join(bench.copies, name)));
    expect(new Set(modes)).toEqual(new Set(['600']));
    copying.goOn();
    expect((await backup.waitForExit()).code).toBe(0);
    expect(readdirSync(bench.copies)).toEqual(['copy.db']);
    expect(modeOf(join(bench.copies, 'copy.db'))).toBe('600');
  });
});

describe('a backup in the middle of which', () => {
  it('SIGTERM comes ends at once with 143 and leaves nothing', async () => {
    const bench = await setUpLarge();
    const backup = bench.start(['backup', 'copies/copy.db']);
    const copying = await freezeCopy(backup.pid, bench.copies);
    const askedAt = performance.now();
    const { code, stdout } = await backup.stop('SIGTERM');
    expect(performance.now() - askedAt).toBeLessThan(AT_ONCE_MS);
    expect([code, stdout]).toEqual([143, '']);
    expect(copying.hasEnded()).toBe(true);
    expect(readdirSync(bench.copies)).toEqual([]);
    expect(readdirSync(dirname(bench.database))).toEqual(['leagues.db']);
  });

  it('another one to the same path is done exits 64, and the other copy is whole', async () => {
    const bench = await setUpLarge();
    const slow = bench.start(['backup', 'copies/copy.db']);
    const copying = await freezeCopy(slow.pid, bench.copies);
    expect((await bench.run(['backup', 'copies/copy.db'])).code).toBe(0);
    const { ino, mtimeMs } = statSync(join(bench.copies, 'copy.db'));
    copying.goOn();
    const { code, stderr } = await slow.waitForExit();
    expect([code, stderr]).toEqual([64, expect.stringContaining('copies/copy.db')]);
    expect(statSync(join(bench.copies, 'copy.db'))).toMatchObject({ ino, mtimeMs });
    expect(readRows(join(bench.copies, 'copy.db'), 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(readdirSync(bench.copies)).toEqual(['copy.db']);
  });

  it('the copying process is killed exits 74, says so and leaves nothing', async () => {
    const bench = await setUpLarge();
    const backup = bench.start(['backup', 'copies/copy.db']);
    (await freezeCopy(backup.pid, bench.copies)).kill();
    const { code, stderr } = await backup.waitForExit();
    expect([code, stderr]).toEqual([74, expect.stringContaining('the copy process was killed')]);
    expect(readdirSync(bench.copies)).toEqual([]);
  });

  it('the process that wanted it has ended leaves nothing', async () => {
    const bench = await setUpSynced();
    const copies = join(bench.folder, 'copies');
    mkdirSync(copies);
    const args = (parent: number) => ['copy', '--parent', String(parent), bench.database, 'copies/copy.db'];
    expect((await bench.runProcess(args(1))).code).toBe(0);
    expect(readdirSync(copies)).toEqual([]);
    expect((await bench.runProcess(args(process.pid))).code).toBe(0);
    expect(readdirSync(copies)).toEqual(['copy.db']);
  });

  it('the worker goes on polling comes to its end, with the state as it was when it began', async () => {
    const bench = await setUpSynced({ churnMs: 40 });
    pad(bench.database);
    const copies = join(bench.folder, 'copies');
    mkdirSync(copies);
    const worker = bench.startWorker({ LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
    await worker.waitForPoll();
    const backup = bench.start(['backup', 'copies/copy.db']);
    const copying = await freezeCopy(backup.pid, copies);
    const [{ n: atLeast } = { n: 0 }] = bench.rows('SELECT max(seq) AS n FROM league_changes');
    await worker.waitForPoll('changed');
    await worker.waitForPoll('changed');
    copying.goOn();
    expect((await backup.waitForExit()).code).toBe(0);
    const [{ n: copied } = { n: 0 }] = readRows(join(copies, 'copy.db'), 'SELECT max(seq) AS n FROM league_changes');
    expect(Number(copied)).toBeLessThanOrEqual(Number(atLeast));
    expect(readRows(join(copies, 'copy.db'), 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect((await worker.stop()).code).toBe(0);
  });
});

const FIELDS = `league_id, league_name, sport, league_image, priority, status, sport_db_id, active_season_type, active_year,
  external_id, external_odds_id, default_markets, default_tournaments, rankings, active_poll, state, city,
  create_datetime, last_update_datetime, extra`;

/** Expects an intact database in one file, with the state after some run. */
function expectWholeState(path: string): void {
  expect(readRows(path, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(readRows(path, 'PRAGMA journal_mode')).toEqual([{ journal_mode: 'delete' }]);
  const listed = readRows(path, `SELECT ${FIELDS} FROM leagues WHERE removed_at IS NULL ORDER BY league_id`);
  const folded = `SELECT ${FIELDS} FROM league_versions WHERE valid_to IS NULL ORDER BY league_id`;
  expect(readRows(path, folded)).toEqual(listed);
  expect(
    readRows(path, "SELECT count(*) FILTER (WHERE kind = 'added') AS added, count(*) AS n FROM league_changes"),
  ).toEqual(readRows(path, 'SELECT sum(added) AS added, sum(added + changed + removed + restored) AS n FROM runs'));
  const done = "kind = 'leagues' AND outcome IN ('changed', 'unchanged')";
  expect(readRows(path, `SELECT received AS n FROM runs WHERE ${done} ORDER BY id DESC LIMIT 1`)).toEqual([
    { n: listed.length },
  ]);
}
