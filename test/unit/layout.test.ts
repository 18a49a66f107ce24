import { describe, expect, it } from 'vitest';
import { Monitor } from '../../src/observe/monitor.ts';
import { tabTitle } from '../../src/observe/page/layout.ts';
import { parseSchedule } from '../../src/time/cron.ts';
import { createTestClock } from '../support/clock.ts';
import { makeMonitorSources } from '../support/monitor-sources.ts';

type Known = NonNullable<Parameters<typeof makeMonitorSources>[0]>;

function titleOf(known: Known): string {
  const clock = createTestClock();
  const settings = {
    baseUrl: 'https://api.example.com',
    scope: 'all',
    database: 'leagues.db',
    schedule: parseSchedule('*/5 * * * *', 'UTC'),
    profileSchedule: 'off',
    runTimeoutMs: 120_000,
    staleAfterMs: 900_000,
  } as const;
  const monitor = new Monitor(settings, clock);
  monitor.open(makeMonitorSources({ lastSuccessAt: clock.now(), ...known }));
  return tabTitle(monitor);
}

describe('the title of a tab', () => {
  it.each<[string, Known]>([
    ['2 polls failed', { consecutiveFailures: 2, counts: { held_removals: 3, open_rejections: 4 } }],
    ['3 held', { counts: { held_removals: 3, open_rejections: 4 } }],
    ['4 rejected', { counts: { open_rejections: 4 } }],
    ['1,234 leagues', { counts: { live_leagues: 1_234 } }],
  ])('is "%s", the worst of what is to be told', (title, known) => {
    expect(titleOf(known)).toBe(title);
  });
});
