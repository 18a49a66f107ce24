import { pino } from 'pino';
import { expect, it } from 'vitest';
import { parseSchedule } from '../../src/cron.ts';
import { createLateApp } from '../../src/observe/late-app.ts';
import { createMonitor } from '../../src/observe/monitor.ts';
import { createTestClock } from '../support/clock.ts';

const LOGIN = { at: 0, outcome: 'ok', reason: 'start' } as const;

it('what happens before, while and after the metrics are loaded is counted once', async () => {
  const clock = createTestClock();
  const schedule = parseSchedule('*/5 * * * *', 'UTC');
  const service = 'https://api.example.com';
  const settings = { version: '1.2.3', service, scope: 'all', database: 'leagues.db', schedule } as const;
  const rest = { profileSchedule: 'off', runTimeoutMs: 120_000, staleAfterMs: 900_000 } as const;
  const monitor = createMonitor({ ...settings, ...rest }, clock);
  const app = createLateApp({ monitor, clock, log: pino({ level: 'silent' }) });
  const ask = async (path: string) => app({ method: 'GET', path, query: new URLSearchParams(), isGone: () => false });

  monitor.noteLogin(LOGIN);
  monitor.noteLogin(LOGIN);
  const live = ask('/livez');
  monitor.noteLogin(LOGIN);
  expect(await live).toMatchObject({ status: 200, body: '{"live":true}' });
  monitor.noteLogin(LOGIN);
  expect((await ask('/metrics')).body).toContain('league_sync_logins_total{outcome="ok"} 4\n');
});
