import { spawnSync } from 'node:child_process';

/** Why promtool is not available; undefined if it is. */
export function missingPromtool(): string | undefined {
  return spawnSync('promtool', ['--version']).status === 0 ? undefined : 'promtool (of Prometheus) is not here';
}

/** The output of promtool, and whether it succeeded. */
export function askPromtool(args: readonly string[]): { readonly content: boolean; readonly said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { content: status === 0, said: stdout + stderr };
}
