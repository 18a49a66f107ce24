import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import type { Row } from './database.ts';

/** A program that may read the database, but not write beside it. */
export type ReadOnlyClient = {
  readonly who: string;
  /** Why such a client is not possible here; undefined if it is. Throws if it could write into the folder. */
  readonly missing: (folder: string) => string | undefined;
  /** Queries with Debian's sqlite3 and the busy timeout of the documents. Rejects with the error output. */
  readonly ask: (database: string, sql: string) => Promise<readonly Row[]>;
  /** Opens, reads and closes the database repeatedly, until the returned function is called. */
  readonly readOverAndOver: (database: string, sql: string) => () => Promise<void>;
};

type Command = {
  readonly file: string;
  readonly args: readonly string[];
  readonly options?: { readonly uid: number; readonly gid: number };
};

/** The unprivileged user `nobody` of Debian. */
const UNPRIVILEGED = { uid: 65_534, gid: 65_534 };

const MOUNT_READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"';

const OVER_AND_OVER = `yes ".open --readonly $0
.timeout 2000
$1;" | sqlite3`;

/** The clients that the contract supports, each a way to run a command. */
export const OUTSIDERS: readonly ReadOnlyClient[] = [
  makeOutsider('under another user', (_folder, file, args) => ({ file, args, options: UNPRIVILEGED })),
  makeOutsider('on a read-only mount', (folder, file, args) => ({
    file: 'unshare',
    args: ['--mount', 'sh', '-c', MOUNT_READ_ONLY, folder, file, ...args],
  })),
];

function makeOutsider(
  who: string,
  place: (folder: string, file: string, args: readonly string[]) => Command,
): ReadOnlyClient {
  return {
    who,
    missing: (folder) => {
      const here = place(folder, 'true', []);
      try {
        execFileSync(here.file, here.args, { ...here.options, stdio: 'pipe' });
      } catch {
        return `no reader ${who} can be had here`;
      }
      const attempt = place(folder, 'touch', [`${folder}/written`]);
      try {
        execFileSync(attempt.file, attempt.args, { ...attempt.options, stdio: 'pipe' });
      } catch {
        return undefined;
      }
      throw new Error(`A reader ${who} can write into ${folder}, so it proves nothing.`);
    },
    ask: async (database, sql) => {
      const args = ['-readonly', '-json', '-cmd', '.timeout 2000', database, sql];
      const there = place(dirname(database), 'sqlite3', args);
      const { stdout } = await promisify(execFile)(there.file, there.args, { ...there.options, maxBuffer: 2 ** 26 });
      const rows: unknown = stdout === '' ? [] : JSON.parse(stdout);
      if (!Array.isArray(rows)) throw new Error('sqlite3 printed no list of rows');
      return rows;
    },
    readOverAndOver: (database, sql) => {
      const there = place(dirname(database), 'sh', ['-c', OVER_AND_OVER, database, sql]);
      const child = spawn(there.file, there.args, { ...there.options, stdio: 'ignore', detached: true });
      const ended = once(child, 'exit');
      const end = (): void => {
        // Kills the process group, since the command is a pipeline.
        if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
      };
      onTestFinished(end);
      return async () => {
        expect([child.exitCode, child.signalCode]).toEqual([null, null]);
        end();
        await ended;
      };
    },
  };
}
