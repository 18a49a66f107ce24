import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { missingStrace } from '../rigs/syscalls/syscall.ts';
import { setUpSynced } from '../support/bench.ts';
import { mountDisk, NO_MOUNT } from '../support/copy-process.ts';
import { fingerprint } from '../support/folder.ts';

function modeOf(path: string): string {
  return (lstatSync(path).mode & 0o777).toString(8);
}

it("a backup is refused the names of the database's other files, of no file, and in no folder", async () => {
  const bench = await setUpSynced();
  const before = fingerprint(bench.folder);
  const ours = ['-wal', '-shm', '-journal', '.lock'].map((suffix) => bench.database + suffix);
  const others = { '': '', 'copies/': '', 'missing/copy.db': join(bench.folder, 'missing') };
  for (const [name, named] of [...ours.map((path) => [path, path] as const), ...Object.entries(others)]) {
    const { code, stderr } = await bench.run(['backup', name]);
    expect([name, code, stderr]).toEqual([name, 64, expect.stringContaining(named)]);
  }
  expect(fingerprint(bench.folder)).toEqual(before);
});

it('removes what a killed one left, and not what is in progress', async () => {
  const bench = await setUpSynced();
  const [old, recent] = ['old', 'recent'].map((id) => join(bench.folder, `.copy.db.league-sync-part-${id}`));
  for (const part of [old, recent]) writeFileSync(String(part), '');
  utimesSync(String(old), 0, 0);
  expect((await bench.run(['backup', 'copy.db'])).code).toBe(0);
  expect([old, recent].map((part) => existsSync(String(part)))).toEqual([false, true]);
});

const inTheWay: Readonly<Record<string, (file: string, database: string) => void>> = {
  'a file': (file) => writeFileSync(file, 'Dear diary'),
  'an empty file': (file) => writeFileSync(file, ''),
  'an earlier backup': (file, database) => copyFileSync(database, file),
  'a folder': (file) => mkdirSync(file),
  'a link that leads nowhere': (file) => symlinkSync(`${file}.gone`, file),
  'a link to the database': (file, database) => symlinkSync(database, file),
  'another name of the database': (file, database) => linkSync(database, file),
  'the WAL of an earlier file': (file) => writeFileSync(`${file}-wal`, ''),
};

it('at a path that exists already, what is there is not changed; exit code 64', async () => {
  const bench = await setUpSynced();
  const file = join(bench.folder, 'copy.db');
  for (const [what, make] of Object.entries(inTheWay)) {
    make(file, bench.database);
    const before = fingerprint(bench.folder);
    const { code, stderr } = await bench.run(['backup', 'copy.db']);
    expect([code, stderr], what).toEqual([64, expect.stringContaining(file)]);
    expect(fingerprint(bench.folder), what).toEqual(before);
    for (const end of ['', '-wal']) rmSync(file + end, { recursive: true, force: true });
  }
});

it('a backup that lacks space exits 74, names the path and the fix, and leaves nothing', async ({ skip }) => {
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

describe('who may read a backup', () => {
  it('is who may read the database, and nobody may write it but this user', async () => {
    const bench = await setUpSynced();
    chmodSync(bench.database, 0o666);
    expect((await bench.run(['backup', 'copy.db'])).code).toBe(0);
    expect(modeOf(join(bench.folder, 'copy.db'))).toBe('644');
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
});
