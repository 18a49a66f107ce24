import { describe, expect, it } from 'vitest';
import { setUp } from '../support/bench.ts';
import { execute } from '../support/database.ts';
import { makeLeague } from '../support/leagues.ts';
import { eventually } from '../support/program.ts';

const pollRows = 'SELECT trigger, outcome FROM runs ORDER BY id';

describe('poll', () => {
  it('makes the worker poll now, waits for a pause that is short, and prints the result', async () => {
    const bench = await setUp();
    const worker = bench.start(['run']);
    await worker.waitForPoll('changed');
    expect(await bench.run(['poll'])).toEqual({
      code: 0,
      signal: null,
      stdout: expect.stringMatching(/^leagues: unchanged: \d+ received \(\d.*\)\n$/),
      stderr: '',
    });
    expect(bench.rows(pollRows)).toEqual([
      { trigger: 'start', outcome: 'changed' },
      { trigger: 'manual', outcome: 'unchanged' },
    ]);
    // Of a command that was killed while the worker hung.
    execute(bench.database, "INSERT INTO poll_requests (asked_at) VALUES ('2026-01-01T00:00:00.000Z')");
    await eventually('it is dropped', () => bench.rows('SELECT * FROM poll_requests').length === 0);
    expect(worker.log().filter(({ msg }) => msg === 'league-sync poll: polling now')).toHaveLength(1);
    bench.simulator.setFault('drop-third', true);
    expect(await bench.run(['poll'])).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^leagues: held: .* held .*; league-sync accept-removals shows them\n$/),
    });
    bench.simulator.setFault('drop-third', false);
    bench.simulator.setFault('result-fail', true);
    const failed = await bench.run(['poll']);
    const [run] = bench.rows('SELECT error_message FROM runs ORDER BY id DESC LIMIT 1');
    expect(failed).toMatchObject({ code: 1, stdout: '', stderr: `league-sync: ${Object(run).error_message}\n` });
    bench.simulator.setFault('result-fail', false);
    bench.simulator.setFault('rate-limit', true);
    const asking = bench.run(['poll']);
    await eventually('it is asked for a pause', () => bench.simulator.requests.at(-1)?.status === 429);
    bench.simulator.setFault('rate-limit', false);
    expect(await asking).toMatchObject({ code: 0, stdout: expect.stringMatching(/^leagues: unchanged/) });
    execute(bench.database, "UPDATE runs SET not_before = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+1 hour')");
    const paused = /^league-sync: the service asked not to be called before \d{4}-.*Z \(Retry-After\)/;
    expect(await bench.run(['poll'])).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(paused) });
    expect((await worker.stop()).code).toBe(0);
  });

  it('waits for a poll that begins after the request, if one is in progress', async () => {
    const bench = await setUp();
    const worker = bench.start(['run'], { LEAGUE_SYNC_ATTEMPT_TIMEOUT: '2s' });
    await worker.waitForPoll('changed');
    const before = bench.simulator.requests.length;
    bench.simulator.setFault('hang', true);
    worker.send('SIGHUP');
    await eventually('a poll hangs', () => bench.simulator.requests.length > before);
    const asking = bench.run(['poll']);
    await worker.waitForLog(({ msg }) => msg === 'league-sync poll: polling now');
    expect(bench.rows(pollRows)).toHaveLength(2);
    bench.simulator.setFault('hang', false);
    expect((await asking).code).toBe(0);
    expect(bench.rows(pollRows).slice(1)).toEqual([
      { trigger: 'manual', outcome: 'unchanged' },
      { trigger: 'manual', outcome: 'unchanged' },
    ]);
  });

  it('ends the wait for refused credentials, and exits as sync does, also if the database refuses what came', async () => {
    const bench = await setUp();
    expect((await bench.run(['sync'])).code).toBe(0);
    bench.simulator.setFault('login-refused', true);
    const worker = bench.start(['run']);
    await worker.waitForLog(({ outcome }) => outcome === 'refused');
    expect(await bench.run(['poll'])).toMatchObject({
      code: 77,
      stdout: '',
      stderr: expect.stringContaining('refused'),
    });
    bench.simulator.setFault('login-refused', false);
    expect((await bench.run(['poll'])).code).toBe(0);
    execute(bench.database, "CREATE TRIGGER moon BEFORE INSERT ON leagues BEGIN SELECT raise(ABORT, 'full moon'); END");
    bench.simulator.setLeagues([...bench.simulator.leagues(), makeLeague('new')]);
    expect(await bench.run(['poll'])).toMatchObject({ code: 74, stderr: expect.stringContaining('full moon') });
  });

  it('exits 1 if no worker runs, 74 without a database, and a start drops its request', async () => {
    const bench = await setUp();
    expect(await bench.run(['poll'])).toMatchObject({ code: 74, stdout: '' });
    expect((await bench.run(['sync'])).code).toBe(0);
    execute(bench.database, "INSERT INTO poll_requests (asked_at) VALUES (strftime('%Y-%m-%dT%H:%M:%fZ'))");
    expect(await bench.run(['poll'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^league-sync: no worker runs on .*leagues\.db -> start one with league-sync run/),
    });
    const worker = bench.start(['run']);
    await worker.waitForLog(({ msg }) => String(msg).startsWith('worker started'));
    expect(bench.rows('SELECT * FROM poll_requests')).toEqual([]);
    execute(bench.database, 'PRAGMA user_version = 99');
    expect(await bench.run(['poll'])).toMatchObject({ code: 74, stderr: expect.stringContaining('newer version') });
    await worker.stop('SIGKILL');
    expect(await bench.run(['poll'])).toMatchObject({ code: 1, stderr: expect.stringContaining('no worker runs') });
  });

  it('exits 1 while sync holds the database, which goes on', async () => {
    const bench = await setUp();
    expect((await bench.run(['sync'])).code).toBe(0);
    bench.simulator.setFault('hang', true);
    const before = bench.simulator.requests.length;
    const sync = bench.start(['sync']);
    await eventually('the request hangs', () => bench.simulator.requests.length > before);
    expect(await bench.run(['poll'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`league-sync sync \\(process ${sync.pid} on .*\\) holds it`)),
    });
    expect(sync.alive()).toBe(true);
  });
});
