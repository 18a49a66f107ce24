import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import type { Row } from './database.ts';

/** A program that may read the database, but not write beside it. */
export type ReadOnlyClient = ReturnType<typeof makeOutsider>;

/** The unprivileged user `nobody` of Debian. */
const UNPRIVILEGED = { uid: 65_534, gid: 65_534 };

const MOUNT_READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"';

const OVER_AND_OVER = `yes ".open --readonly $0
.timeout 2000
$1;" | sqlite3`;

/** The clients that the contract supports, each a way to run a command. */
export const OUTSIDERS: readonly ReadOnlyClient[] = [
  makeOutsider('under another user', () => [], UNPRIVILEGED),
  makeOutsider('on a read-only mount', (folder) => ['unshare', '--mount', 'sh', '-c', MOUNT_READ_ONLY, folder]),
];

function makeOutsider(
  who: string,
  place: (folder: string) => readonly string[],
  user: Partial<typeof UNPRIVILEGED> = {},
) {
  const run = promisify(execFile);
  const there = (folder: string, ...command: readonly string[]): readonly [string, string[]] => {
    const [file = '', ...args] = [...place(folder), ...command];
    return [file, args];
  };
  const works = (folder: string, ...command: readonly string[]): boolean => {
    const [file, args] = there(folder, ...command);
    return spawnSync(file, args, { ...user, stdio: 'ignore' }).status === 0;
  };
  return {
    who,
    /** Why such a client is not possible here; undefined if it is. Throws if it could write into the folder. */
    missing: (folder: string): string | undefined => {
      if (!works(folder, 'true')) return `no reader ${who} can be had here`;
      if (!works(folder, 'touch', `${folder}/written`)) return undefined;
      throw new Error(`A reader ${who} can write into ${folder}, so it proves nothing.`);
    },
    /** Queries with Debian's sqlite3 and the busy timeout of the documents. Rejects with the error output. */
    ask: async (database: string, sql: string): Promise<readonly Row[]> => {
      const query = ['sqlite3', '-readonly', '-json', '-cmd', '.timeout 2000', database, sql];
      const { stdout } = await run(...there(dirname(database), ...query), { ...user, maxBuffer: 2 ** 26 });
      return stdout === '' ? [] : JSON.parse(stdout);
    },
    /** Opens, reads and closes the database repeatedly, until the returned function is called. */
    readOverAndOver: (database: string, sql: string): (() => Promise<void>) => {
      const command = there(dirname(database), 'sh', '-c', OVER_AND_OVER, database, sql);
      const child = spawn(...command, { ...user, stdio: 'ignore', detached: true });
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
