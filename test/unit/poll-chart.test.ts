import { expect, it } from 'vitest';
import { renderPolls } from '../../src/observe/page/poll-chart.ts';
import { NO_COUNTS } from '../../src/sync/report.ts';

it('a poll during which the clock was set back gets the lowest bar', async () => {
  const poll = {
    id: 1,
    kind: 'leagues',
    trigger: 'schedule',
    started_at: '2026-11-20T12:00:00.000Z',
    finished_at: '2026-11-20T11:00:00.000Z',
    outcome: 'unchanged',
    http_status: 200,
    error_kind: null,
    error_message: null,
    ...NO_COUNTS,
  } as const;
  const chart = String(await renderPolls([poll], Date.parse('2026-11-20T12:00:00.000Z')));
  expect(chart).toContain('y="74.0" width="8" height="6.0"');
});
