import { describe, expect, it } from 'vitest';
import { createRun } from '../../src/sync/run.ts';
import { fail, hang } from '../support/service.ts';
import { setUpBench } from '../support/worker-resources.ts';

const RUN_MS = 300;
/** Far more than a busy machine adds. */
const GIVEN_UP_MS = 5_000;

/** The report and the row of a run with this work. */
async function runOf(work: (signal: AbortSignal) => Promise<never>) {
  await using bench = await setUpBench({}, { settings: { RUN_TIMEOUT: `${RUN_MS}ms` } });
  const given = Promise.withResolvers<'it did not settle'>();
  const timer = setTimeout(() => given.resolve('it did not settle'), GIVEN_UP_MS);
  using run = createRun(bench.deps, 'leagues', 'schedule', new AbortController().signal);
  await run.begin();
  const running = run.beforeDeadline(work(run.deadline.signal)).catch((error: unknown) => run.fail(error));
  const report = await Promise.race([running, given.promise]);
  clearTimeout(timer);
  return { report, rows: bench.rows('SELECT outcome, error_kind, finished_at IS NULL AS open FROM runs') };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

describe('a run that does not settle', () => {
  it.each([
    ['obeys', untilAborted],
    // No known operation does, but a run must not depend on that.
    ['ignores', () => new Promise<never>(() => undefined)],
  ])('is ended by its own deadline, even if its operation %s that, and its row says so', async (_, work) => {
    const { report, rows } = await runOf(work);
    expect(report).toMatchObject({ outcome: 'failed', error: { kind: 'timeout' } });
    expect(rows).toEqual([{ outcome: 'failed', error_kind: 'timeout', open: 0 }]);
  });
});

it('a run whose time is up says what failed before', async () => {
  const settings = { RUN_TIMEOUT: '3s', ATTEMPT_TIMEOUT: '20s' };
  await using bench = await setUpBench({ leagues: [fail(503), hang()] }, { settings });
  await bench.poll();
  const [row] = bench.rows('SELECT attempts, error_kind, error_message FROM runs');
  expect(row).toMatchObject({ attempts: 2, error_kind: 'timeout' });
  expect(row?.error_message).toMatch(
    /^No success within 3 s \(LEAGUE_SYNC_RUN_TIMEOUT\)\. Previous failure: .* with status 503\./,
  );
});
