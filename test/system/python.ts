import { spawnSync } from 'node:child_process';

/** Why Python is not available, in a version that the receiver in docs/webhooks.md is meant for; undefined if it is. */
export function missingPython(): string | undefined {
  const { status } = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']);
  return status === 0 ? undefined : 'python3 (3.9 or newer) is not here';
}
