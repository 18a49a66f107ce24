import { execFileSync } from 'node:child_process';
import { accessSync, constants, readFileSync, realpathSync } from 'node:fs';
import { arch, availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { delimiter, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { formatNumber, markdownTable } from './statistics.ts';

/** What one needs to know to compare figures with those of other machines. */
export function describeMachine(folder: string): string {
  const rows = [
    ['processor', `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores, ${arch()}`],
    ['memory', `${formatNumber(totalmem() / 1e9)} GB`],
    ['kernel', `${type()} ${release()}`],
    ['file system', fileSystemOf(folder)],
    [
      'load average at start',
      loadavg()
        .map((load) => load.toFixed(2))
        .join(', '),
    ],
    ['Node', process.version],
    [
      'league-sync',
      `${versionOf('../../package.json')}, commit ${commit()}, SQLite ${sqliteOf(new Database(':memory:'))}`,
    ],
    ['drizzle script', `drizzle-orm ${versionOf('../../node_modules/drizzle-orm/package.json')}, the same SQLite`],
    ['sqlite3', sayWhereInstalled(() => `SQLite ${say('sqlite3', '--version').split(' ')[0]}`)],
    ['sqlite-utils', sayWhereInstalled(describeSqliteUtils)],
  ];
  return markdownTable(['', 'what'], rows);
}

/** The file system of the nearest mount point above; the last mount wins. `stat` cannot tell ext4 from ext2. */
function fileSystemOf(folder: string): string {
  const path = `${realpathSync(folder)}/`;
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .map(([, point = '?', type = 'unknown']) => ({ point: `${withBlanks(point)}/`.replace('//', '/'), type }))
    .filter(({ point }) => path.startsWith(point))
    .toSorted((one, other) => one.point.length - other.point.length);
  return mounts.at(-1)?.type ?? 'unknown';
}

/** The kernel escapes spaces as octal. */
function withBlanks(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function say(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', cwd: import.meta.dirname }).trim();
}

/** Says so if a program is not installed: most parts do not need it. */
function sayWhereInstalled(describe: () => string): string {
  try {
    return describe();
  } catch {
    return 'not installed';
  }
}

function versionOf(file: string): string {
  return (JSON.parse(readFileSync(`${import.meta.dirname}/${file}`, 'utf8')) as { version: string }).version;
}

/** The commit, with a plus sign if the work tree is dirty. */
function commit(): string {
  return say('git', 'describe', '--always', '--exclude', '*', '--dirty=+');
}

function sqliteOf(db: Database.Database): string {
  const version = db.prepare<[], string>('SELECT sqlite_version()').pluck().get();
  db.close();
  return version ?? 'unknown';
}

function describeSqliteUtils(): string {
  const version = say('sqlite-utils', '--version').split(' ').at(-1);
  return `${version}, SQLite ${say('sqlite-utils', 'memory', 'SELECT sqlite_version()', '--raw')}`;
}

/** The programs that are not on the PATH; a name with a slash is looked up as a path. */
export function missingOf(programs: readonly string[]): readonly string[] {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return programs.filter((program) => !folders.some((folder) => canRun(resolve(folder, program))));
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
