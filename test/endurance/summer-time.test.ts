import { beforeAll, expect, it } from 'vitest';
import { leagueRequests, setUp } from '../support/bench.ts';
import { makeFakeClock, missingFaketime, offsetTo, runUnder } from '../support/libfaketime.ts';
import { walkSchedule } from '../support/schedule-walk.ts';

beforeAll(() => {
  const why = missingFaketime();
  if (why !== undefined) throw new Error(why);
});

const [BERLIN, NEW_YORK] = ['Europe/Berlin', 'America/New_York'];

/** The first time of each day is that at which the worker starts. */
it.each<[string, string, string, string, string]>([
  ['where it begins, without a gap', BERLIN, '*/20 * * * *', '2026-03-29', '00:30 00:40 01:00 01:20 01:40 02:00'],
  ['where it ends, without a gap', BERLIN, '*/20 * * * *', '2026-10-25', '00:30 00:40 01:00 01:20 01:40 02:00'],
  ['where it begins, without a gap', NEW_YORK, '*/20 * * * *', '2026-03-08', '06:30 06:40 07:00 07:20 07:40'],
  ['where it ends, without a gap', NEW_YORK, '*/20 * * * *', '2026-11-01', '05:30 05:40 06:00 06:20 06:40 07:00'],
  ['in the hour left out', BERLIN, '30 2 * * *', '2026-03-29', '00:50 01:30'],
  ['in the hour left out', NEW_YORK, '30 2 * * *', '2026-03-08', '06:50 07:30'],
  ['in the hour that comes twice, the first time', BERLIN, '30 2 * * *', '2026-10-25', '00:20 00:30'],
  ['where the change is half an hour', 'Australia/Lord_Howe', '15 * * * *', '2026-04-04', '14:05 14:15 15:45 16:45'],
])('a worker in a zone with DST polls once at each scheduled time %s (%s, "%s", %s)', async (...walk) => {
  const [, timezone, expression, day, times] = walk;
  const [from = '', ...scheduled] = times.split(' ').map((time) => `${day}T${time}:00Z`);
  await walkSchedule({ timezone, expression, from, times: scheduled });
});

it.each([
  ['begins', '2026-03-29T01:00:00Z'],
  ['ends', '2026-10-25T01:00:00Z'],
])(
  'a worker that lives through the instant at which summer time %s polls in step on both sides of it',
  async (_, change) => {
    const SLOT_MS = 2_000;
    const POLLS = 6;
    const bench = await setUp();
    const clock = makeFakeClock(bench.folder, offsetTo(Date.parse(change) - 6_000));
    const worker = runUnder(clock, bench, { LEAGUE_SYNC_SCHEDULE: '*/2 * * * * *', LEAGUE_SYNC_TIMEZONE: BERLIN });
    const startedAt = performance.now();
    for (let polls = 0; polls < POLLS; polls += 1) await worker.waitForPoll();
    const elapsedMs = performance.now() - startedAt;
    expect((await worker.stop()).code).toBe(0);

    const runs = bench.rows('SELECT started_at FROM runs ORDER BY id').map((row) => String(row.started_at));
    expect(runs.filter((at) => at < change.replace('Z', '.000Z')).length).toBeGreaterThan(0);
    expect(runs.filter((at) => at >= change.replace('Z', '.000Z')).length).toBeGreaterThan(0);
    expect(leagueRequests(bench.simulator).length).toBeLessThanOrEqual(elapsedMs / SLOT_MS + 2);
    // Neither an hour without runs nor an hour of catch-up runs.
    expect(elapsedMs).toBeLessThan(POLLS * SLOT_MS + 15_000);
  },
);
