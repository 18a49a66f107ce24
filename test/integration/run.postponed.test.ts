import { expect, it } from 'vitest';
import { StatusError } from '../../src/errors.ts';
import { createRun } from '../../src/sync/run.ts';
import { createWallClock } from '../support/clock.ts';
import { setUpBench } from '../support/worker-resources.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const RUN_MS = 60_000;

it.each([
  ['past its own time', NOON + 3_600_000, { manual: true, 'catch-up': true }],
  ['up to the end of its own time', NOON + RUN_MS, { manual: true, 'catch-up': true }],
  ['that ends before that', NOON + RUN_MS / 2, { manual: true, 'catch-up': false }],
  ['that is over', NOON - 1, { manual: false, 'catch-up': false }],
  ['of no length, since none was asked for', undefined, { manual: false, 'catch-up': false }],
])('a run that fails because of a Retry-After %s is postponed accordingly', async (_, notBefore, postponed) => {
  const clock = createWallClock(() => NOON);
  const settings = { RUN_TIMEOUT: `${RUN_MS / 1_000}s` };
  await using bench = await setUpBench({}, { settings, clock });
  const error = new StatusError(false, 'The service answered with status 503.', { notBefore });
  for (const trigger of ['manual', 'catch-up'] as const) {
    using run = createRun(bench.deps, 'leagues', trigger, new AbortController().signal);
    await run.begin();
    expect(await run.fail(error)).toMatchObject({ outcome: 'failed', postponed: postponed[trigger] });
  }
});
