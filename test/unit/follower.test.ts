import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { readPostgresUrl } from '../../src/config/postgres-url.ts';
import { SettingsError, StoppedError } from '../../src/errors.ts';
import { Follower } from '../../src/mirror/follower.ts';
import { createTestClock } from '../support/clock.ts';
import { ended, makeReport } from '../support/run-report.ts';

/** A follower whose URL cannot be read any more. */
function startFailing() {
  const clock = createTestClock();
  const stop = new AbortController();
  let reads = 0;
  const source = () => {
    reads += 1;
    if (reads > 1) throw new SettingsError([{ message: 'the file is gone', fix: 'make it anew' }]);
    return {
      server: readPostgresUrl('postgresql://role@db.example.com/leagues', 'URL', {}),
      schema: 'league_sync',
    };
  };
  const lines: { level: number; msg: string }[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const store = { path: '/nowhere', writeError: () => undefined };
  const follower = new Follower({ store, source, clock, log });
  const following = follower.follow(stop.signal);
  const end = (): Promise<void> => {
    stop.abort(new StoppedError());
    return following;
  };
  return { clock, follower, lines, end };
}

describe('a mirror that fails', () => {
  it('is tried again after 1 s, doubling to 5 min', async () => {
    const { clock, follower, lines, end } = startFailing();
    await clock.advance(1_200_000);
    const seconds = clock.slept.map((ms) => ms / 1_000);
    expect(seconds.slice(0, 11)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    expect(follower.status()).toMatchObject({
      failed_attempts: seconds.length,
      last_error: expect.stringContaining('is gone'),
    });
    await end();
    expect(lines.map(({ level }) => level)).toEqual([40, ...seconds.slice(1).map(() => 30)]);
    expect(lines[0]?.msg).toMatch(/the file is gone.+\. The next attempt is in 1 s; polls continue$/);
  });

  it('is tried at once when asked, but not because a poll has ended', async () => {
    const { clock, follower, end } = startFailing();
    await clock.advance(3_500);
    const before = clock.slept.length;
    follower.onEvent(ended(makeReport({ kind: 'leagues', outcome: 'changed' })));
    await clock.advance(0);
    expect(clock.slept.length).toBe(before);
    follower.retryNow();
    await clock.advance(0);
    expect(clock.slept.length).toBe(before + 1);
    await end();
  });
});
