import { expect } from 'vitest';
import type { Bench } from './bench.ts';
import type { Environment } from './program.ts';

/** A line of `check --json`. */
export type Finding = {
  readonly name: string;
  readonly result: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly fix?: string;
};

export type Checked = { readonly code: number | null; readonly findings: readonly Finding[] };

/** Runs `check` and asserts the form of its result: only warnings and failures name a fix, and only a failure exits with 1. */
export async function runCheck(bench: Bench, env: Environment = {}): Promise<Checked> {
  const { code, stdout, stderr } = await bench.run(['check', '--json'], env);
  expect(stderr).toBe('');
  const { ok, checks }: { ok: boolean; checks: readonly Finding[] } = JSON.parse(stdout);
  expect(checks.filter(({ result, fix = '' }) => (result === 'ok') !== (fix === ''))).toEqual([]);
  expect(ok).toBe(checks.every(({ result }) => result !== 'fail'));
  expect(code).toBe(ok ? 0 : 1);
  return { code, findings: checks };
}

/** The warnings and failures, each as `result name`. */
export function troubles({ findings }: Checked): readonly string[] {
  return findings.filter(({ result }) => result !== 'ok').map(({ result, name }) => `${result} ${name}`);
}

/** All messages of one check. */
export function told({ findings }: Checked, name: string): string {
  return findings
    .filter((finding) => finding.name === name)
    .map(({ result, message, fix = '' }) => `${result} ${message} -> ${fix}`)
    .join('\n');
}
