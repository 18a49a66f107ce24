import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lookUp } from '../documents/references.ts';
import { readRows } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { type LogLine, readLines, runProgram, startProgram } from '../support/program.ts';
import { needTerminal, startAtTerminal } from '../support/terminal.ts';

const PAGE_PORT = 9464;

function pageOf(lines: readonly LogLine[]): string {
  return String(lines.find(({ msg }) => String(msg).startsWith('status page'))?.url);
}

/** Occupies the port of the page, unless another program has it. */
async function takePagePort(): Promise<Server | undefined> {
  const server = createServer();
  onTestFinished(() => void server.close());
  try {
    await once(server.listen(PAGE_PORT, '127.0.0.1'), 'listening');
    return server;
  } catch {
    return undefined;
  }
}

describe('demo', () => {
  it('runs until it is stopped, ignores the settings and keeps its database', async () => {
    const { path: cwd } = makeFolder();
    mkdirSync(join(cwd, '.env'));
    const env = {
      LEAGUE_SYNC_BASE_URL: 'nonsense',
      LEAGUE_SYNC_SCHEDULE: 'never',
      LEAGUE_SYNC_DATABASE: '/nowhere/x.db',
    };
    const demo = startProgram(['demo'], { cwd, env });
    await demo.waitForPoll('changed');
    await demo.waitForLog(({ reason }) => reason === 'due');
    const { code, stdout } = await demo.stop();

    expect(code).toBe(0);
    expect(stdout).toContain(join(cwd, 'demo-data', 'leagues.db'));
    expect(readdirSync(join(cwd, 'demo-data'))).toEqual(['leagues.db']);
    const database = join(cwd, 'demo-data', 'leagues.db');
    expect(readRows(database, "SELECT count(*) AS n FROM league_changes WHERE kind = 'added' AND run_id = 1")).toEqual([
      { n: 124 },
    ]);
    expect(readRows(database, "SELECT count(*) AS n FROM logins WHERE outcome = 'ok'")[0]?.n).toBeGreaterThanOrEqual(2);
    expect(readdirSync(cwd).sort()).toEqual(['.env', 'demo-data']);
  });

  it('says what each poll changed right after the line of that poll, the first few of many', async () => {
    const demo = startProgram(['demo'], { cwd: makeFolder().path });
    for (let poll = 0; poll < 3; poll += 1) await demo.waitForPoll('changed');
    const { stdout } = await demo.stop();
    const lines = readLines(stdout);
    const polls = lines.flatMap(({ msg, outcome, added, changed, removed, restored }, index) =>
      outcome === 'changed' && String(msg).startsWith('leagues: ')
        ? [{ index, count: [added, changed, removed, restored].reduce<number>((sum, n) => sum + Number(n), 0) }]
        : [],
    );
    expect(polls.length).toBeGreaterThan(2);
    for (const { index, count } of polls) {
      const msg = String(lines[index + 1]?.msg);
      const [, counts = '', names = ''] = /^ {2}((?:\d+ \w+(?:, )?)+): (.+)$/.exec(msg) ?? [];
      const told = [...counts.matchAll(/\d+/g)].reduce((sum, [n]) => sum + Number(n), 0);
      expect([msg, told]).toEqual([msg, count]);
      expect(/ and (\d+) more$/.exec(names)?.[1]).toBe(count > 5 ? String(count - 5) : undefined);
    }
    expect(lines.filter(({ msg }) => String(msg).startsWith('  '))).toHaveLength(polls.length);
  });

  it('exits 0 when it is stopped or --for is over, and starts empty each time', async () => {
    const { path: cwd } = makeFolder();
    const database = join(cwd, 'demo-data', 'leagues.db');
    const first = startProgram(['demo'], { cwd });
    await first.waitForPoll('changed');
    expect((await first.stop('SIGINT')).code).toBe(0);
    expect(readdirSync(join(cwd, 'demo-data'))).toEqual(['leagues.db']);
    const [before] = readRows(database, 'SELECT started_at FROM runs WHERE id = 1');
    const status = await runProgram(['status', '--database', 'demo-data/leagues.db'], { cwd });
    expect(status.stdout).toContain('until you start one with league-sync demo\n');
    expect((await runProgram(['demo', '--for', '1s'], { cwd })).code).toBe(0);
    expect(readRows(database, 'SELECT started_at FROM runs WHERE id = 1')[0]?.started_at).not.toBe(before?.started_at);
  });

  it('runs on with a --for beyond the limit of setTimeout', async () => {
    const demo = startProgram(['demo', '--for', '60d'], { cwd: makeFolder().path });
    await demo.waitForPoll('changed');
    await demo.waitForPoll();
    expect(demo.alive()).toBe(true);
    const { code, stdout, stderr } = await demo.stop();
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain('TimeoutOverflowWarning');
  });

  it.each(['5', 'soon', '0s'])('exits 64 on --for %s', async (duration) => {
    expect((await runProgram(['demo', '--for', duration], { cwd: makeFolder().path })).code).toBe(64);
  });
});

describe('the page of a demo', () => {
  it(`is at port ${PAGE_PORT} if that is free`, async (context) => {
    // Demos in other tests occupy the port for seconds.
    for (let look = 0; look < 30; look += 1) {
      const server = await takePagePort();
      if (server !== undefined) {
        await once(server.close(), 'close');
        const { stdout } = await runProgram(['demo', '--for', '200ms'], { cwd: makeFolder().path });
        if (pageOf(readLines(stdout)) === `http://127.0.0.1:${PAGE_PORT}`) return;
      }
      await new Promise((wake) => setTimeout(wake, 500));
    }
    const holder = await takePagePort();
    if (holder === undefined) context.skip(`another program has port ${PAGE_PORT} all the time`);
    else throw new Error(`no demo took port ${PAGE_PORT}, though it is free`);
  });

  it('takes another port if a program has that one', async () => {
    await takePagePort();
    const demo = startProgram(['demo'], { cwd: makeFolder().path });
    await demo.waitForPoll('changed');
    const page = pageOf(demo.log());
    expect(page).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(new URL(page).port).not.toBe(String(PAGE_PORT));
    expect((await fetch(`${page}/livez`)).status).toBe(200);
    expect((await demo.stop()).code).toBe(0);
  });
});

describe('a demo at a terminal', () => {
  needTerminal();

  it('opens with its page, tells each poll in one line, and ends with what is kept and what to type next', async () => {
    const { path: cwd } = makeFolder();
    const demo = startAtTerminal('demo --for 5s', { cwd, env: { NO_COLOR: '1' }, columns: 80 });
    expect(await demo.waitForExit()).toBe(0);
    const lines = demo.screen().trimEnd().split('\r\n');
    const database = join(cwd, 'demo-data', 'leagues.db');
    expect(lines[0]).toMatch(/^page {6}http:\/\/127\.0\.0\.1:\d+$/);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    const [begin, end] = [lines.indexOf(''), lines.lastIndexOf('')];
    // On a slow machine, warnings of skipped polls stand between them.
    const polls = lines.slice(begin + 1, end).filter((line) => /^\d\d:/.test(line));
    expect(polls[0]).toMatch(/^\d\d:\d\d:\d\dZ {2}124 added: NFL, .+ and 119 more$/);
    const rows = readRows(database, "SELECT id FROM runs WHERE kind = 'leagues'");
    expect(polls).toHaveLength(rows.length);
    expect(lines.slice(end + 1).map((line) => /^[a-z ]{8}/.exec(line)?.[0].trim())).toEqual([
      'stopped',
      'kept',
      'next',
      '',
      'for real',
    ]);
    const commands = lines.filter((line) => line.includes('npx ')).map((line) => line.slice(10));
    expect(commands.map((command) => lookUp(command, { clone: '.', database }))).toEqual(Array(5).fill('exists'));
    for (const command of commands.filter((line) => /--database/.test(line) && !/--follow/.test(line)))
      expect((await runProgram(command.split(' ').slice(2), { cwd })).code).toBe(0);
  });
});
