import { spawnSync } from 'node:child_process';

/** The oldest Python that the receiver in docs/webhooks.md is meant for. */
const NEEDED = [3, 9];

/** Why Python is not available; undefined if it is. */
export function missingPython(): string | undefined {
  const asks = `import sys; sys.exit(sys.version_info < (${NEEDED.join(', ')}))`;
  const isHere = spawnSync('python3', ['-c', asks]).status === 0;
  return isHere ? undefined : `python3 (${NEEDED.join('.')} or newer) is not here`;
}
