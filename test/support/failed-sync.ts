import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { type Bench, PASSWORD, USERNAME } from './bench.ts';
import type { Environment, Exit } from './program.ts';

/** The rows of a sync that failed before its login succeeded. */
export type FailedSync = {
  readonly code: number | null;
  readonly stderr: string;
  /** Of the one run. */
  readonly kind: unknown;
  readonly message: string;
  /** The error of each login, in order. */
  readonly logins: readonly unknown[];
};

/** Runs a `sync` that must fail, and returns its rows. Also expects that it leaked no secret at log level trace. */
export async function failToSync(bench: Bench, env: Environment, secrets: readonly string[] = []): Promise<FailedSync> {
  const exit = await bench.run(['sync'], { LEAGUE_SYNC_LOG_LEVEL: 'trace', ...env });
  expectNoSecret(bench, exit, secrets);
  const runs = bench.rows('SELECT outcome, error_kind, error_message FROM runs');
  expect(runs).toMatchObject([{ outcome: 'failed' }]);
  return {
    code: exit.code,
    stderr: exit.stderr,
    kind: runs[0]?.error_kind,
    message: String(runs[0]?.error_message),
    logins: bench.rows('SELECT error_message FROM logins ORDER BY id').map((login) => login.error_message),
  };
}

/**
 * Expects that neither the outputs nor any file beside the database contains the password, a token, or one of these.
 */
export function expectNoSecret({ database }: Bench, { stdout, stderr }: Exit, secrets: readonly string[] = []): void {
  const folder = dirname(database);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
  const written = [stdout, stderr, ...files].join('\n');
  const forbidden = [PASSWORD, basicPair(USERNAME, PASSWORD), 'Basic ', 'Bearer ', ...secrets];
  expect(forbidden.filter((secret) => written.includes(secret))).toEqual([]);
}

/** The base64 pair of a Basic `Authorization` header. */
export function basicPair(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}
