import { spawnSync } from 'node:child_process';

/** Why Prometheus' own judge of metrics and rules cannot be asked; undefined if it can. */
export function missingPromtool(): string | undefined {
  return spawnSync('promtool', ['--version']).status === 0 ? undefined : 'promtool (of Prometheus) is not here';
}

/** What promtool says, and whether it is content. */
export function askPromtool(args: readonly string[], input = ''): { readonly content: boolean; readonly said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { content: status === 0, said: stdout + stderr };
}
