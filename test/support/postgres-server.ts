import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../../src/errors.ts';

export const SUPERUSER = 'postgres';
export const PASSWORD = 'superuser-password';

export type PostgresServer = {
  readonly port: number;
  readonly folder: string;
  /** The URL of a database, as the superuser or another role. */
  readonly url: (database: string, user?: string, password?: string) => string;
  readonly start: () => void;
  readonly stop: (how?: 'fast' | 'immediate') => void;
  /** Sends a signal to every process of the server. */
  readonly signal: (name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL') => void;
  readonly remove: () => void;
};

const PROGRAMS = globSync('/usr/lib/postgresql/*/bin').sort().at(-1) ?? '';

/** Without it there is no server. */
export const INITDB = join(PROGRAMS, 'initdb');

/** Why Debian's PostgreSQL server cannot be run; undefined if it can. */
export function missingPostgres(): string | undefined {
  return existsSync(INITDB) ? undefined : 'there is no PostgreSQL server (postgresql)';
}

/** A server without fsync, as its files are not kept. It refuses to run as root, so then it runs as nobody. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'league-sync-postgres-'));
  const data = join(folder, 'data');
  const port = await freePort();
  const secret = join(folder, 'password');
  writeFileSync(secret, PASSWORD);
  chmodSync(folder, 0o700);
  if (process.getuid?.() === 0) for (const path of [folder, secret]) chownSync(path, NOBODY, NOBODY);
  run('initdb', '-D', data, '-U', SUPERUSER, '--pwfile', secret, '-A', 'scram-sha-256', '-E', 'UTF8', '--no-sync');
  const options = `-c port=${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder} -c fsync=off
    -c shared_buffers=64MB -c max_connections=50`.replaceAll(/\s+/g, ' ');
  const server: PostgresServer = {
    port,
    folder,
    url: (database, user = SUPERUSER, password = PASSWORD) =>
      `postgresql://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`,
    start: () => run('pg_ctl', '-D', data, '-l', join(folder, 'log'), '-o', options, '-w', 'start'),
    stop: (how = 'fast') => run('pg_ctl', '-D', data, '-m', how, '-w', 'stop'),
    signal: (name) => {
      // The processes of the server lead groups of their own, below the first one.
      const [postmaster] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
      for (const pid of [Number(postmaster), ...childrenOf(Number(postmaster))]) signalIfThere(pid, name);
    },
    remove: () => {
      spawnSync(...asNobody(join(PROGRAMS, 'pg_ctl'), ['-D', data, '-m', 'immediate', '-w', 'stop']));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  server.start();
  return server;
}

function childrenOf(parent: number): readonly number[] {
  const stats = globSync('/proc/[0-9]*/stat').flatMap((file) => {
    try {
      return [readFileSync(file, 'utf8')];
    } catch {
      // The process has ended.
      return [];
    }
  });
  // The name in parentheses may hold spaces; the state and the parent follow it.
  const children = stats.map((stat) => /^(\d+) \(.*\) \S (\d+) /s.exec(stat));
  return children.flatMap((child) => (Number(child?.[2]) === parent ? [Number(child?.[1])] : []));
}

function signalIfThere(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

const NOBODY = 65_534;

function asNobody(command: string, args: readonly string[]): [string, string[]] {
  if (process.getuid?.() !== 0) return [command, [...args]];
  return ['setpriv', ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups', command, ...args]];
}

function run(program: string, ...args: readonly string[]): void {
  const [command, all] = asNobody(join(PROGRAMS, program), args);
  const { status, stderr, stdout } = spawnSync(command, all, {
    encoding: 'utf8',
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  if (status !== 0) throw new Error(`${program} failed (${status}): ${stdout}${stderr}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP port was bound');
  return address.port;
}
