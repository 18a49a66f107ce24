import { expect } from 'vitest';
import type { Bench } from './bench.ts';
import type { Environment } from './program.ts';

/** Runs a `sync` that must fail, and returns the rows of its one run, and the error of each login, in order. */
export async function failToSync(bench: Bench, env: Environment) {
  const { code, stderr } = await bench.run(['sync'], { LEAGUE_SYNC_LOG_LEVEL: 'trace', ...env });
  const runs = bench.rows('SELECT outcome, error_kind, error_message FROM runs');
  expect(runs).toMatchObject([{ outcome: 'failed' }]);
  const logins = bench.rows('SELECT error_message FROM logins ORDER BY id').map((login) => login.error_message);
  return { code, stderr, kind: runs[0]?.error_kind, message: String(runs[0]?.error_message), logins };
}
