import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';

// What every commit owes the next release: `check-release.ts`; and what a tag owes: `check-release.ts v1.2.3`.
// docs/release.md has the steps that no script can take.

const tag = process.argv[2];
const faults: string[] = [];

const { version } = readJson('package.json');
const changelog = readFileSync('CHANGELOG.md', 'utf8');
/** The headings of the changelog, newest first, with what stands below each. */
const sections = changelog
  .split(/^## /m)
  .slice(1)
  .map((section) => ({ heading: section.split('\n', 1)[0] ?? '', body: section.slice(section.indexOf('\n')).trim() }));

checkVersion();
checkHeadings();
checkMigrations();
if (tag !== undefined) checkTag(tag);

if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}

function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function checkVersion(): void {
  if (!/^\d+\.\d+\.\d+$/.test(version)) faults.push(`package.json: "${version}" is no version of the form 1.2.3`);
  const locked = readJson('package-lock.json');
  for (const at of [locked.version, locked.packages[''].version]) {
    if (at !== version) faults.push(`package-lock.json: says ${at}, package.json ${version}; run npm install`);
  }
}

function checkHeadings(): void {
  const [unreleased, ...released] = sections;
  if (unreleased?.heading !== '[Unreleased]') faults.push('CHANGELOG.md: the first section must be [Unreleased]');
  const versions: string[] = [];
  for (const { heading, body } of released) {
    const [, of, date = ''] = /^\[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$/.exec(heading) ?? [];
    if (of === undefined || Number.isNaN(Date.parse(date))) {
      faults.push(`CHANGELOG.md: "${heading}" is not of the form [1.2.3] - 2026-01-31`);
      continue;
    }
    if (body === '') faults.push(`CHANGELOG.md: nothing stands under ${of}`);
    versions.push(of);
  }
  if (versions[0] !== version)
    faults.push(`CHANGELOG.md: its newest version is ${versions[0]}, package.json's ${version}`);
  const sorted = versions.toSorted((one, other) => other.localeCompare(one, 'en', { numeric: true }));
  if (versions.join() !== sorted.join()) faults.push('CHANGELOG.md: its versions do not go down');
}

/** A migration that a tag holds is never edited, and a database of every schema is kept for the upgrade test. */
function checkMigrations(): void {
  const files = globSync('migrations/*.sql').sort();
  for (const [index, file] of files.entries()) {
    const fixture = `test/fixtures/schema-${index + 1}.db`;
    if (globSync(fixture).length === 0) faults.push(`${fixture} is missing: a database of the schema of ${file}`);
  }
  for (const release of git('tag', '--list', 'v*').split('\n').filter(Boolean)) {
    for (const file of git('ls-tree', '--name-only', release, 'migrations/').split('\n')) {
      if (!file.endsWith('.sql')) continue;
      const isSame = files.includes(file) && git('show', `${release}:${file}`) === readFileSync(file, 'utf8');
      if (!isSame) faults.push(`${file} was released with ${release} and must stay as it was`);
    }
  }
}

function checkTag(name: string): void {
  if (name !== `v${version}`) faults.push(`the tag ${name} is not v${version}, the version of package.json`);
  if (sections[0]?.body !== '') faults.push(`CHANGELOG.md: what stands under [Unreleased] belongs under ${version}`);
  if (git('status', '--porcelain') !== '') faults.push('the work tree has changes that are not committed');
}

function git(...words: readonly string[]): string {
  return execFileSync('git', words, { encoding: 'utf8' });
}
