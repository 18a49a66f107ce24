import { hostname } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type SimulatedBench, setUp, setUpSynced } from '../support/bench.ts';
import { withDatabase } from '../support/database.ts';
import { needTerminal, startAtTerminal } from '../support/terminal.ts';

const HOUR = 3_600_000;
const ESCAPE = '\u001b';

function write({ database }: SimulatedBench, sql: string, ...values: readonly unknown[]): void {
  withDatabase(database, (db) => db.prepare(sql).run(...values));
}

const inAn = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** The output of a command at a terminal of this width. */
async function show(bench: SimulatedBench, args: string, columns: number, env = {}): Promise<string> {
  const terminal = startAtTerminal(args, { cwd: bench.folder, env: { ...bench.env, TERM: 'xterm', ...env }, columns });
  expect(await terminal.waitForExit()).toBe(0);
  return terminal.screen().replaceAll('\r\n', '\n');
}

describe('status', () => {
  it('says whether a worker runs, and which', async () => {
    const bench = await setUpSynced();
    expect((await bench.run(['status'])).stdout).toMatch(
      /^● up to date .*\n {2}no worker runs: nothing new is fetched until you start one with league-sync run\n\ndatabase/,
    );
    const worker = bench.start(['run']);
    await worker.waitForLog((line) => /^worker started/.test(String(line.msg)));
    const { stdout } = await bench.run(['status']);
    expect(stdout).toMatch(
      new RegExp(`^worker +running: process ${worker.pid} on ${hostname()}, started 2.*Z \\(.+\\)$`, 'm'),
    );
    expect(JSON.parse((await bench.run(['status', '--json'])).stdout).worker).toMatchObject({
      state: 'running',
      pid: worker.pid,
      host: hostname(),
    });
    expect(stdout).not.toContain('no worker');
    await worker.stop('SIGKILL');
    const { worker: after } = JSON.parse((await bench.run(['status', '--json'])).stdout);
    expect(after).toEqual({ state: 'none', pid: null, host: null, since: null });
  });

  it('shows ages', async () => {
    const bench = await setUpSynced();
    write(bench, "UPDATE logins SET at = '2026-11-20T12:00:00.000Z'");
    write(bench, 'UPDATE runs SET started_at = ?', inAn(-2 * HOUR - 1_000));
    const { stdout } = await bench.run(['status']);
    expect(stdout).toMatch(/^● up to date · 124 leagues · synced (just now|\d+ s ago)$/m);
    expect(stdout).toMatch(/^last good poll +2.*Z \((just now|\d+ s ago)\)$/m);
    expect(stdout).toMatch(/^last login +2026-11-20T12:00:00.000Z \(.+ ago\), ok$/m);
    expect(stdout).toMatch(/^1 +leagues +manual +2.*Z {2}2 h ago +changed +124 received, 124 added$/m);
  });

  it('shows the rows of the view attention, and what to do about each', async () => {
    const bench = await setUpSynced();
    expect((await bench.run(['status'])).stdout).not.toContain('!');
    bench.simulator.setFault('drop-third', true);
    expect((await bench.run(['sync'])).code).toBe(3);
    bench.simulator.setFault('not-json', true);
    expect((await bench.run(['sync'])).code).toBe(1);
    expect((await bench.run(['sync'])).code).toBe(1);
    const { stdout } = await bench.run(['status']);
    expect(stdout).toMatch(/^● up to date, but the last 2 polls failed \(and 1 other problem\) · 124 leagues/m);
    const rows = bench.rows('SELECT * FROM attention');
    expect(rows).toMatchObject([
      { what: 'failing', count: 2 },
      { what: 'held-removals', count: 41 },
    ]);
    // No worker runs, so none tries again.
    const advice = ['To see why: league-sync check.', rows[1]?.what_to_do];
    for (const [index, { summary }] of rows.entries())
      expect(stdout).toContain(`\n\n! ${summary}\n  → ${advice[index]}\n\n`);
    expect(JSON.parse((await bench.run(['status', '--json'])).stdout).attention).toEqual(rows);
  });

  it('shows the end of a pending Retry-After', async () => {
    const bench = await setUpSynced();
    const until = inAn(HOUR);
    write(bench, 'UPDATE runs SET not_before = ?', until);
    expect((await bench.run(['status'])).stdout).toMatch(
      new RegExp(`^Retry-After +no requests until ${until.slice(0, 16)}.*Z \\(in \\d+ min\\)$`, 'm'),
    );
    expect(JSON.parse((await bench.run(['status', '--json'])).stdout).paused_until).toMatch(until.slice(0, 16));
    write(bench, 'UPDATE runs SET not_before = ?', inAn(-HOUR));
    expect((await bench.run(['status'])).stdout).not.toContain('Retry-After');
    expect(JSON.parse((await bench.run(['status', '--json'])).stdout).paused_until).toBe(null);
  });

  it('shows the age of the published copy if one is configured', async () => {
    const bench = await setUp();
    const env = { LEAGUE_SYNC_PUBLISH: 'shared/copy.db' };
    await bench.run(['sync']);
    expect(JSON.parse((await bench.run(['status', '--json'])).stdout).published).toBe(null);
    await bench.run(['sync'], env);
    expect((await bench.run(['status'], env)).stdout).toMatch(
      /^published copy {2}shared\/copy\.db: last made 2.*Z \(.+\)$/m,
    );
  });
});

describe('at a terminal', () => {
  needTerminal();

  it('status breaks no age, and no command', async () => {
    const columns = 60;
    const bench = await setUpSynced();
    const text = stripVTControlCharacters(await show(bench, 'status', columns));
    expect(text).toMatch(/^● up to date · 124 leagues · synced (just now|\d+ s ago)\n {2}no worker runs: /);
    expect(text).toContain('league-sync run\n');
    expect(text).toMatch(/^last good poll {2}(just now|\d+ s ago)$/m);
    expect(text).toMatch(/^last login +(just now|\d+ s ago), ok$/m);
    expect(text).not.toMatch(/\d{4}-\d\d-\d\dT/);
  });

  it('runs in a row that are equal are one line, so that the last change is in view', async () => {
    const bench = await setUpSynced();
    const scopes = { leagues: "'all'", profile: 'NULL' };
    for (const [kind, scope] of Object.entries(scopes).flatMap((each) => Array(12).fill(each)))
      write(
        bench,
        `INSERT INTO runs (kind, trigger, scope, started_at, outcome, http_status)
          VALUES ('${kind}', 'schedule', ${scope}, '2026-11-20T12:00:00.000Z', 'unchanged', 304)`,
      );
    const text = stripVTControlCharacters(await show(bench, 'status', 80));
    const runs = text.slice(text.indexOf('\nrun ')).trim().split('\n').slice(1);
    expect(runs).toEqual([
      expect.stringMatching(/^25 +profile .* unchanged +×12 since 2026-11-20 12:00:00 UTC$/),
      expect.stringMatching(/^13 +leagues .* unchanged +×12 since 2026-11-20 12:00:00 UTC: the/),
      expect.stringMatching(/^ .*says that the list is the same$/),
      expect.stringMatching(/^1 +leagues .* changed +124 received, 124 added$/),
    ]);
    const many = 'WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2500)';
    const columns = 'kind, trigger, scope, started_at, outcome, http_status';
    const row = `SELECT ${columns} FROM runs, n WHERE id = 13`;
    write(bench, `${many} INSERT INTO runs (${columns}) ${row}`);
    expect(stripVTControlCharacters(await show(bench, 'status', 80))).toMatch(/ unchanged +×2500 or more: the/);
  });

  it('colours show good and bad states, except with NO_COLOR or a dumb terminal', async () => {
    const bench = await setUpSynced();
    const status = await show(bench, 'status', 120);
    for (const shown of ['changed', '● up to date']) expect(status).toContain(`${ESCAPE}[32m${shown}`);
    expect(await show(bench, 'status', 120, { NO_COLOR: '1' })).not.toContain(ESCAPE);
    expect(await show(bench, 'changes', 120, { TERM: 'dumb' })).not.toContain(ESCAPE);
  });
});
