import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../../src/errors.ts';
import { findFreePort } from '../support/port.ts';

export const SUPERUSER = 'postgres';
export const PASSWORD = 'superuser-password';

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>;

const PROGRAMS = globSync('/usr/lib/postgresql/*/bin').sort().at(-1) ?? '';

/** Without it there is no server. */
export const INITDB = join(PROGRAMS, 'initdb');

/** Why Debian's PostgreSQL server cannot be run; undefined if it can. */
export function missingPostgres(): string | undefined {
  return existsSync(INITDB) ? undefined : 'there is no PostgreSQL server (postgresql)';
}

/** A server without fsync, as its files are not kept. It refuses to run as root, so then it runs as nobody. */
export async function startPostgres() {
  const folder = mkdtempSync(join(tmpdir(), 'league-sync-postgres-'));
  const data = join(folder, 'data');
  const port = await findFreePort();
  const secret = join(folder, 'password');
  writeFileSync(secret, PASSWORD);
  chmodSync(folder, 0o700);
  if (process.getuid?.() === 0) for (const path of [folder, secret]) chownSync(path, NOBODY, NOBODY);
  run('initdb', '-D', data, '-U', SUPERUSER, '--pwfile', secret, '-A', 'scram-sha-256', '-E', 'UTF8', '--no-sync');
  const options = `-c port=${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder} -c fsync=off
    -c shared_buffers=64MB -c max_connections=50`.replaceAll(/\s+/g, ' ');
  const start = (): void => run('pg_ctl', '-D', data, '-l', join(folder, 'log'), '-o', options, '-w', 'start');
  start();
  return {
    port,
    folder,
    /** The URL of a database, as the superuser or another role. */
    url: (database: string, user = SUPERUSER, password = PASSWORD): string =>
      `postgresql://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`,
    start,
    kill: (): void => run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop'),
    /** Sends a signal to every process of the server. */
    signal: (name: 'SIGSTOP' | 'SIGCONT'): void => {
      // The processes of the server lead groups of their own, below the first one.
      const [postmaster] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
      for (const pid of [Number(postmaster), ...childrenOf(Number(postmaster))]) signalIfThere(pid, name);
    },
    remove: (): void => {
      spawnSync(...asNobody(join(PROGRAMS, 'pg_ctl'), ['-D', data, '-m', 'immediate', '-w', 'stop']));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function childrenOf(parent: number): readonly number[] {
  return readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ').map(Number);
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
