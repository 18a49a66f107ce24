import { expect, it } from 'vitest';
import type { MirrorTarget } from '../../src/config/mirror.ts';
import { toMirrorError } from '../../src/mirror/error.ts';

it('of what a PostgreSQL server says, only the beginning is shown and stored', () => {
  const target = { schema: 's', server: { host: 'db', port: 1, database: 'd', password: undefined } };
  const error = toMirrorError(new Error(`no: ${'x'.repeat(7_000_000)}`), target as MirrorTarget);
  expect(String(error)).toMatch(/cannot be used: no: x+\.$/);
  expect(String(error).length).toBeLessThan(1_000);
});
