import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';

// Checks that a commit is releasable: `check-release.ts`; and that a tag is: `check-release.ts v1.2.3`. docs/release.md
// has the manual steps.

type Manifest = { readonly version: string };
type Lockfile = Manifest & { readonly packages: Readonly<Record<string, Manifest>> };
type Journal = { readonly entries: readonly { readonly tag: string }[] };
/** The SHA-256 of each migration that a version was released with, in order. */
type Released = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Other places that contain the version. */
const NAMED: readonly (readonly [string, RegExp])[] = [
  ['Dockerfile', /^ARG VERSION=(.+)$/gm],
  ['deploy/kubernetes.yaml', /image: league-sync:(\S+)/g],
  ['deploy/kubernetes-restore.yaml', /image: league-sync:(\S+)/g],
  ['docs/deployment/bare.md', /league-sync-(\d[^\s`]*)\.tgz/g],
  ['docs/deployment/systemd.md', /league-sync-(\d[^\s`]*)\.tgz/g],
];
const JOURNAL = 'migrations/meta/_journal.json';
const RELEASED = 'migrations/released.json';

const tag = process.argv[2];
const faults: string[] = [];
const { version } = readJson<Manifest>('package.json');
/** The sections of the changelog, newest first. */
const [unreleased, ...released] = readFileSync('CHANGELOG.md', 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((section) => ({ heading: section.split('\n', 1)[0] ?? '', body: section.slice(section.indexOf('\n')).trim() }));

checkVersion();
const versions = checkHeadings();
checkFixtures();
checkReleased(versions);
if (tag !== undefined) checkTag(tag);

if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function checkVersion(): void {
  if (!/^\d+\.\d+\.\d+$/.test(version)) faults.push(`package.json: "${version}" is no version of the form 1.2.3`);
  const locked = readJson<Lockfile>('package-lock.json');
  for (const at of [locked.version, locked.packages['']?.version]) {
    if (at !== version) faults.push(`package-lock.json: says ${at}, package.json ${version}; run npm install`);
  }
  for (const [file, pattern] of NAMED) {
    const named = [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, of]) => of);
    if (named.length === 0) faults.push(`${file}: names no version any more; correct scripts/check-release.ts`);
    for (const of of new Set(named)) {
      if (of !== version) faults.push(`${file}: names ${of}, package.json ${version}`);
    }
  }
}

/** Returns the versions of the changelog. */
function checkHeadings(): readonly string[] {
  if (unreleased?.heading !== 'Unreleased') faults.push('CHANGELOG.md: the first section must be Unreleased');
  const found: string[] = [];
  for (const { heading, body } of released) {
    const [, of, date = ''] = /^(\d+\.\d+\.\d+) - (\d{4}-\d{2}-\d{2})$/.exec(heading) ?? [];
    if (of === undefined || !isDate(date)) {
      faults.push(`CHANGELOG.md: "${heading}" is not of the form 1.2.3 - 2026-01-31`);
      continue;
    }
    if (body === '') faults.push(`CHANGELOG.md: nothing stands under ${of}`);
    found.push(of);
  }
  if (found[0] !== version) faults.push(`CHANGELOG.md: its newest version is ${found[0]}, package.json's ${version}`);
  const descending = [...new Set(found)].sort((one, other) => other.localeCompare(one, 'en', { numeric: true }));
  if (found.join() !== descending.join()) faults.push('CHANGELOG.md: its versions do not go down');
  return found;
}

/** Whether the date exists; Date would read 31 February as a day in March. */
function isDate(text: string): boolean {
  const day = new Date(text);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** A database of every schema is kept for the test of upgrades. */
function checkFixtures(): void {
  const files = globSync('migrations/*.sql').sort();
  const listed = readJson<Journal>(JOURNAL).entries.map((entry) => `migrations/${entry.tag}.sql`);
  if (files.join() !== listed.join())
    faults.push(`${JOURNAL}: lists other migrations than there are, or in another order`);
  for (const [index, file] of files.entries()) {
    const fixture = `test/fixtures/schema-${index + 1}.db`;
    if (globSync(fixture).length === 0) faults.push(`${fixture} is missing: a database of the schema of ${file}`);
  }
}

/** Migrations that were released, and their order, must not change. */
function checkReleased(changelog: readonly string[]): void {
  const released = readJson<Released>(RELEASED);
  const present = readJson<Journal>(JOURNAL).entries.map(
    ({ tag }) => [tag, digestOf(`migrations/${tag}.sql`)] as const,
  );
  for (const of of changelog) {
    if (of in released) continue;
    faults.push(`${RELEASED}: lacks ${of}; add "${of}": ${JSON.stringify(Object.fromEntries(present))}`);
  }
  for (const [of, migrations] of Object.entries(released)) {
    if (!changelog.includes(of)) faults.push(`${RELEASED}: names ${of}, which CHANGELOG.md does not`);
    for (const [index, [tag, sha256]] of Object.entries(migrations).entries()) {
      if (present[index]?.[0] !== tag || present[index]?.[1] !== sha256)
        faults.push(`migrations/${tag}.sql was released with ${of} and must stay as and where it was`);
    }
  }
}

/** Undefined if there is no such file. */
function digestOf(file: string): string | undefined {
  return globSync(file).length === 0 ? undefined : hash('sha256', readFileSync(file, 'utf8'));
}

function checkTag(name: string): void {
  if (name !== `v${version}`) faults.push(`the tag ${name} is not v${version}, the version of package.json`);
  if (unreleased?.body !== '') faults.push(`CHANGELOG.md: what stands under Unreleased belongs under ${version}`);
  if (git('status', '--porcelain') !== '') faults.push('the work tree has changes that are not committed, or is none');
}

/** The output of git; undefined if the command fails or git is missing. */
function git(...words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', words, { encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}
