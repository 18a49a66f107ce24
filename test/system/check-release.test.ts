import { execFileSync, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Folder, makeFolder } from '../support/folder.ts';

const SCRIPT = resolve('scripts/check-release.ts');
const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-11-20\n\n- More.\n\n## 0.1.0 - 2026-10-22\n\n- It.\n';

let folder: Folder;

function write(file: string, content: string): void {
  mkdirSync(join(folder.path, file, '..'), { recursive: true });
  writeFileSync(join(folder.path, file), content);
}

function git(...words: readonly string[]): void {
  const who = ['-c', 'user.name=Someone', '-c', 'user.email=someone@example.com'];
  execFileSync('git', [...who, ...words], { cwd: folder.path });
}

function check(...words: readonly string[]) {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...words], { cwd: folder.path, encoding: 'utf8' });
  return { status, faults: stderr };
}

function journal(...tags: readonly string[]): string {
  return JSON.stringify({ entries: tags.map((tag, idx) => ({ idx, tag })) });
}

const INITIAL = 'CREATE TABLE a (b);';
const RELEASED = { '0000_initial': hash('sha256', INITIAL) };
const FINE = { status: 0, faults: '' };

beforeEach(() => {
  folder = makeFolder();
  write('package.json', '{ "version": "0.2.0" }');
  write('package-lock.json', '{ "version": "0.2.0", "packages": { "": { "version": "0.2.0" } } }');
  write('CHANGELOG.md', CHANGELOG);
  write('Dockerfile', 'ARG BASE=node\nARG VERSION=0.2.0\n');
  write('deploy/kubernetes.yaml', 'image: league-sync:0.2.0\n');
  write('deploy/kubernetes-restore.yaml', 'image: league-sync:0.2.0\n');
  for (const page of ['bare', 'systemd']) write(`docs/deployment/${page}.md`, 'npm install ./league-sync-0.2.0.tgz\n');
  write('migrations/0000_initial.sql', INITIAL);
  write('migrations/released.json', JSON.stringify({ '0.1.0': RELEASED, '0.2.0': RELEASED }));
  write('migrations/meta/_journal.json', journal('0000_initial'));
  write('test/fixtures/schema-1.db', '');
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'It');
});
afterEach(() => folder[Symbol.dispose]());

describe('a release', () => {
  it('passes as it should be, with its tag and without', () => {
    expect([check(), check('v0.2.0')]).toEqual([FINE, FINE]);
  });

  it.each([
    [
      'a lockfile of another version',
      'package-lock.json',
      '{ "version": "0.1.0", "packages": { "": { "version": "0.2.0" } } }',
      /package-lock.json: says 0\.1\.0/,
    ],
    [
      'a version that the changelog lacks',
      'CHANGELOG.md',
      CHANGELOG.replace('0.2.0', '0.3.0'),
      /newest version is 0\.3/,
    ],
    ['versions out of order', 'CHANGELOG.md', CHANGELOG.replace('0.1.0', '0.10.0'), /do not go down/],
    [
      'a released migration that was edited',
      'migrations/0000_initial.sql',
      'CREATE TABLE a (c);',
      /must stay as and where it was/,
    ],
    [
      'a version whose migrations are not recorded',
      'migrations/released.json',
      JSON.stringify({ '0.1.0': RELEASED }),
      /lacks 0\.2\.0; add "0\.2\.0": \{"0000_initial":"[0-9a-f]{64}"\}/,
    ],
    ['a migration that is not in the list', 'migrations/0001_more.sql', 'SELECT 1;', /lists other migrations/],
    ['an image of another version', 'Dockerfile', 'ARG VERSION=0.1.0\n', /Dockerfile: names 0\.1\.0/],
    ['a schema without a database of it', 'migrations/0001_more.sql', 'SELECT 1;', /schema-2\.db is missing/],
  ])('is refused with %s', (_, file, content, fault) => {
    write(file, content);
    expect(check()).toEqual({ status: 1, faults: expect.stringMatching(fault) });
  });

  it('is refused under the tag of another version, or with unreleased notes or uncommitted files', () => {
    expect(check('v0.3.0').faults).toMatch(/the tag v0\.3\.0 is not v0\.2\.0/);
    write('CHANGELOG.md', CHANGELOG.replace('Unreleased\n', 'Unreleased\n\n- Something.\n'));
    expect(check()).toEqual(FINE);
    expect(check('v0.2.0').faults).toMatch(/belongs under 0\.2\.0\n.*not committed/);
  });
});
