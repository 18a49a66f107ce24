import { expect, it } from 'vitest';
import type { MirrorTarget } from '../../src/config/mirror.ts';
import { createMirrorOutput } from '../../src/mirror/output.ts';

it('compares a mirror in full once, and again after a failure or at another address', async () => {
  let database = 'one';
  let isDown = false;
  const jobs: string[] = [];
  const output = createMirrorOutput({
    store: { path: 'leagues.db', writeError: () => undefined },
    source: () => ({ schema: 's', server: { host: 'db', port: 5432, database } }) as MirrorTarget,
    run: async (job) => {
      jobs.push(job);
      if (isDown) throw new Error('down');
      return { seq: 1 } as never;
    },
  });
  const step = () => output.step(new AbortController().signal, () => undefined);
  await step();
  await step();
  isDown = true;
  await expect(step()).rejects.toThrow('down');
  isDown = false;
  await step();
  database = 'two';
  await step();
  expect(jobs).toEqual(['fill', 'follow', 'follow', 'fill', 'fill']);
});
