import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { missingStrace } from '../rigs/syscalls/syscall.ts';
import { type Bench, EVERY_SECOND, setUp, setUpFor, setUpSynced } from '../support/bench.ts';
import {
  askAsOther,
  expectWholeState,
  freezeCopy,
  mountDisk,
  NO_MOUNT,
  NO_OTHER_USER,
  pad,
} from '../support/copy-process.ts';
import { dumpTables, execute, readRows } from '../support/database.ts';
import { fingerprint } from '../support/folder.ts';

/** The copy process is suspended, so waiting for it would never end. */
const AT_ONCE_MS = 2_000;
const NOWHERE = 'http://127.0.0.1:9';

/** A database that takes long to copy. */
async function setUpLarge(): Promise<Bench & { readonly copies: string }> {
  const bench = await setUpSynced();
  pad(bench.database);
  const copies = join(bench.folder, 'copies');
  mkdirSync(copies);
  return { ...bench, copies };
}

/** Whether the file is a copy, complete or partial. */
function isCopy(name: string): boolean {
  return /\.(db|part)$/.test(name);
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
  it.each(['-wal', '-shm', '-journal', '.lock'])(
    'is refused the name that the database needs for its %s',
    async (suffix) => {
      const bench = await setUpSynced();
      const { code, stderr } = await bench.run(['backup', `${bench.database}${suffix}`]);
      expect([code, stderr]).toEqual([64, expect.stringContaining(`leagues.db${suffix}`)]);
      expect(readdirSync(dirname(bench.database))).toEqual(['leagues.db']);
    },
  );

  it('refuses an empty name, and one that ends with a slash', async () => {
    const bench = await setUpSynced();
    for (const name of ['copies/', '']) expect((await bench.run(['backup', name])).code).toBe(64);
    expect(readdirSync(bench.folder)).toEqual(['data']);
  });

  it('taken while the worker polls every second holds the state after a poll, whole', async () => {
    const bench = await setUp({ churnMs: 40 });
    const worker = bench.startWorker({ LEAGUE_SYNC_SCHEDULE: EVERY_SECOND });
    await worker.waitForPoll('changed');
    const files = ['1.db', '2.db', '3.db', '4.db'].map((name) => join(bench.folder, name));
    for (const file of files) {
      const { code, stdout, stderr } = await bench.run(['backup', file]);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain(file);
      worker.send('SIGHUP');
    }
    expect((await worker.stop()).code).toBe(0);

    for (const file of files) {
      expectWholeState(file);
      const copied = readRows(file, 'SELECT * FROM league_changes ORDER BY seq');
      expect(bench.rows(`SELECT * FROM league_changes ORDER BY seq LIMIT ${copied.length}`)).toEqual(copied);
      const last = 'SELECT max(run_id) AS run FROM league_changes';
      const [{ run } = { run: 0 }] = readRows(file, last);
      expect(bench.rows(`SELECT count(*) AS n FROM league_changes WHERE run_id <= ${run}`)).toEqual([
        { n: copied.length },
      ]);
    }
    expect(readdirSync(bench.folder).sort()).toEqual(['1.db', '2.db', '3.db', '4.db', 'data']);
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

  it('needs no setting but the database', async () => {
    const bench = await setUpSynced();
    const copy = setUpFor(NOWHERE);
    const none = Object.fromEntries(Object.keys(copy.env).map((name) => [name, '']));
    const { code } = await copy.run(['backup', 'copy.db'], { ...none, LEAGUE_SYNC_DATABASE: bench.database });
    expect(code).toBe(0);
    expect(dumpTables(join(copy.folder, 'copy.db'))).toEqual(dumpTables(bench.database));
    expect(readdirSync(copy.folder)).toEqual(['copy.db']);
  });

  it('can be read by another user from a read-only folder', async ({ skip }) => {
    skip(NO_OTHER_USER !== undefined, NO_OTHER_USER);
    const bench = await setUpSynced();
    const folder = join(bench.folder, 'shared');
    mkdirSync(folder);
    chmodSync(bench.database, 0o644);
    expect((await bench.run(['backup', join(folder, 'copy.db')])).code).toBe(0);
    chmodSync(bench.folder, 0o755);
    chmodSync(folder, 0o555);
    expect(askAsOther(join(folder, 'copy.db'), 'SELECT count(*) FROM leagues')).toBe('124');
    expect(readdirSync(folder)).toEqual(['copy.db']);
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

  it.each(Object.entries(inTheWay))('%s is not changed; exit code 64', async (_, make) => {
    const bench = await setUpSynced();
    make(join(bench.folder, 'copy.db'), bench.database);
    const before = fingerprint(bench.folder);
    const { code, stderr } = await bench.run(['backup', 'copy.db']);
    expect(code).toBe(64);
    expect(stderr).toContain(join(bench.folder, 'copy.db'));
    expect(fingerprint(bench.folder)).toEqual(before);
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

  it('for want of a database exits 74 and makes none', async () => {
    const bench = setUpFor(NOWHERE);
    const { code, stderr } = await bench.run(['backup', 'copy.db']);
    expect([code, stderr]).toEqual([74, expect.stringContaining('data/leagues.db')]);
    expect(readdirSync(bench.folder)).toEqual([]);
  });

  it('of another application’s database exits 74 and does not change it', async () => {
    const bench = setUpFor(NOWHERE);
    mkdirSync(dirname(bench.database));
    execute(bench.database, 'CREATE TABLE letters (letter TEXT)');
    const before = fingerprint(bench.folder);
    const { code, stderr } = await bench.run(['backup', 'copy.db']);
    expect([code, stderr]).toEqual([74, expect.stringContaining('another application')]);
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
  it.each([
    ['600', '600'],
    ['640', '640'],
    ['644', '644'],
    ['660', '640'],
    ['666', '644'],
  ])('of a database with mode %s is who may read the database: mode %s', async (mode, expected) => {
    const bench = await setUpSynced();
    chmodSync(bench.database, mode);
    dropUmask();
    expect((await bench.run(['backup', 'copy.db'])).code).toBe(0);
    expect(modeOf(join(bench.folder, 'copy.db'))).toBe(expected);
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
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s comes ends at once with %i and leaves nothing', async (signal, expected) => {
    const bench = await setUpLarge();
    const backup = bench.start(['backup', 'copies/copy.db']);
    const copying = await freezeCopy(backup.pid, bench.copies);
    const askedAt = performance.now();
    const { code, stdout } = await backup.stop(signal);
    expect(performance.now() - askedAt).toBeLessThan(AT_ONCE_MS);
    expect([code, stdout]).toEqual([expected, '']);
    expect(copying.hasEnded()).toBe(true);
    expect(readdirSync(bench.copies).filter(isCopy)).toEqual([]);
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
    expect(readdirSync(bench.copies).filter(isCopy)).toEqual([]);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('the copying is cut short by %s leaves no journal', async (signal) => {
    const bench = await setUpLarge();
    const backup = bench.start(['backup', 'copies/copy.db']);
    const copying = await freezeCopy(backup.pid, bench.copies);
    if (signal === 'SIGKILL') copying.kill();
    else backup.send(signal);
    await backup.waitForExit();
    expect(readdirSync(bench.copies)).toEqual([]);
  });

  it.each([
    ['a backup', []],
    ['a published copy', ['--replace', 'published', '--part', 'copies/copy.part']],
  ])('the process that wanted %s has ended leaves nothing', async (_, more) => {
    const bench = await setUpSynced();
    const copies = join(bench.folder, 'copies');
    mkdirSync(copies);
    const args = (parent: number) => ['copy', ...more, '--parent', String(parent), bench.database, 'copies/copy.db'];
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
