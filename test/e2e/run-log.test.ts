import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import type { LogLine } from '../support/program.ts';

const SELDOM = '0 0 29 2 *';
/** The line of a run, not of a skipped run or of a run's findings. */
const isRun = (line: LogLine): boolean => 'run_id' in line && 'outcome' in line;
const COUNTS = ['received', 'added', 'changed', 'unchanged', 'restored', 'rejected', 'duplicates', 'removed', 'held'];
const COLUMNS = ['kind', 'trigger', 'outcome', 'attempts', ...COUNTS];

function pick(line: LogLine, names: readonly string[]): LogLine {
  return Object.fromEntries(names.map((name) => [name, line[name]]));
}

// A logged name that is not snake_case fails the test (test/support/log-lines.ts).
it('the log says of each run what its row says, under the same names, and explains each of them', async () => {
  const bench = await setUp();
  const env = { LEAGUE_SYNC_LOG_LEVEL: 'trace', LEAGUE_SYNC_PROFILE_SCHEDULE: SELDOM };
  const worker = bench.start(['run'], env);
  await worker.waitForLog((line) => isRun(line) && line.kind === 'profile');
  for (const fault of ['bad-rows', 'new-field', 'empty-list', 'not-json', 'always-401', 'redirect', 'etag']) {
    bench.simulator.setFault(fault, true);
    await worker.pollNow();
    bench.simulator.setFault(fault, false);
  }
  await worker.pollNow('unchanged');
  await worker.stop();

  const lines = worker.log().filter(isRun);
  const rows = bench.rows(`SELECT id AS run_id, ${COLUMNS.join(', ')} FROM runs ORDER BY id`);
  expect(lines.map((line) => pick(line, ['run_id', ...COLUMNS]))).toEqual(rows);
  expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['changed', 'unchanged', 'held', 'failed']));
  for (const { duration_ms } of lines) expect(duration_ms).toBeGreaterThanOrEqual(0);

  const page = readFileSync('docs/messages.md', 'utf8');
  const names = new Set(worker.log().flatMap(Object.keys));
  expect([...names].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
