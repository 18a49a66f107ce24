import { expect, it } from 'vitest';
import { staleAt } from '../../src/sync/stale-at.ts';
import { parseSchedule } from '../../src/time/next-cron-time.ts';

const SETTINGS = { schedule: parseSchedule('*/5 * * * *', 'UTC'), runTimeoutMs: 120_000, staleAfterMs: undefined };
const berlin = (expression: string) => ({ schedule: parseSchedule(expression, 'Europe/Berlin') });
const NOW = '2026-11-20T12:00:30Z';

it.each<readonly [string, Partial<typeof SETTINGS> | { staleAfterMs: number }, string, string]>([
  ['once the third slot and the run timeout have passed', {}, NOW, '2026-11-20T12:17:00.000Z'],
  ['by the schedule', berlin('0 6 * * *'), NOW, '2026-11-23T05:02:00.000Z'],
  ['after LEAGUE_SYNC_STALE_AFTER, if it is set', { staleAfterMs: 600_000 }, NOW, '2026-11-20T12:10:30.000Z'],
  ['never later than a timestamp can say', { staleAfterMs: 1e15 }, NOW, '9999-12-31T23:59:59.999Z'],
])('data becomes stale %s', (_, more, now, expected) => {
  expect(staleAt({ ...SETTINGS, ...more }, Date.parse(now))).toBe(expected);
});
