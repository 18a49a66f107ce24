import { expect, it } from 'vitest';
import { describePoll } from '../../src/commands/demo-text.ts';
import type { Change } from '../../src/store/queries/feed.ts';
import { NO_COUNTS } from '../../src/sync/report.ts';
import { makeReport } from '../support/run-report.ts';

it('a demo names the first leagues of a poll, and counts the others, removed ones included', () => {
  const counts = { ...NO_COUNTS, added: 1, changed: 2, restored: 4, removed: 8 };
  const entry = { before: null, league_name: 'NFL' } as Change;
  const told = describePoll(makeReport({ outcome: 'changed', counts }), [entry, entry]);
  expect(told).toBe('1 added, 2 changed, 4 restored, 8 removed: NFL, NFL and 13 more');
});
