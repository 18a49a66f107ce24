import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lookUp } from '../documents/references.ts';
import { runCommand } from '../support/command.ts';
import { readRows } from '../support/database.ts';
import { makeFolder } from '../support/folder.ts';
import { eventually, type LogLine, readLines, runProgram, startProgram } from '../support/program.ts';
import { CONTROL_C, needTerminal, showAtTerminal, startAtTerminal } from '../support/terminal.ts';

const PAGE_PORT = 9464;

function pageOf(lines: readonly LogLine[]): string {
  return String(lines.find(({ msg }) => String(msg).startsWith('status page'))?.url);
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
    const status = await runProgram(['status', '--database', database], { cwd });
    expect(status.stdout).toContain('until you start one with league-sync demo\n');
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
    const named: string[] = [];
    for (const { index, count } of polls) {
      const msg = String(lines[index + 1]?.msg);
      const [, counts = '', names = ''] = /^ {2}((?:\d+ \w+(?:, )?)+): (.+)$/.exec(msg) ?? [];
      const told = [...counts.matchAll(/\d+/g)].reduce((sum, [n]) => sum + Number(n), 0);
      expect([msg, told]).toEqual([msg, count]);
      expect(/ and (\d+) more$/.exec(names)?.[1]).toBe(count > 5 ? String(count - 5) : undefined);
      named.push(names.replace(/ and \d+ more$/, ''));
    }
    expect(named.filter((names) => names === named[0])).toHaveLength(1);
    expect(lines.filter(({ msg }) => String(msg).startsWith('  '))).toHaveLength(polls.length);
  });

  it.each(['5', 'soon', '0s', '60d'])('exits 64 on --for %s', async (duration) => {
    expect((await runCommand(['demo', '--for', duration], { cwd: makeFolder().path })).code).toBe(64);
  });
});

// Demos of other tests hold the port for seconds, so another one may have it only for a part of this test.
it(`the page of a demo is at port ${PAGE_PORT}, or at another one while that is in use`, { retry: 3 }, async () => {
  const pages: string[] = [];
  for (let nth = 0; nth < 2; nth += 1) {
    const demo = startProgram(['demo'], { cwd: makeFolder().path });
    await demo.waitForPoll('changed');
    pages.push(pageOf(demo.log()));
  }
  expect(new Set(pages).size).toBe(2);
  for (const page of [...pages, `http://127.0.0.1:${PAGE_PORT}`])
    expect((await fetch(`${page}/livez`)).status).toBe(200);
});

describe('a demo at a terminal', () => {
  needTerminal();

  it('opens with its page, tells each poll in one line, and ends with what is kept and what to type next', async () => {
    const { path: cwd } = makeFolder();
    const { code, lines } = await showAtTerminal('demo --for 5s', { cwd, env: { NO_COLOR: '1' }, columns: 80 });
    expect(code).toBe(0);
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
    const commands = lines.filter((line) => line.includes(' league-sync ')).map((line) => line.slice(10));
    expect(commands.map((command) => lookUp(command, { clone: '.', database }))).toEqual(Array(5).fill('exists'));
    for (const command of commands.filter((line) => /--database/.test(line) && !/--follow/.test(line)))
      expect((await runProgram(command.split(' ').slice(1), { cwd })).code).toBe(0);
  });

  it('tells once why a poll holds removals or fails, with a command that works as printed', async () => {
    const { path: cwd } = makeFolder();
    const demo = startAtTerminal('demo', { cwd, env: { NO_COLOR: '1' }, columns: 80 });
    const waitFor = (text: RegExp) => eventually(`${text} is told`, () => text.exec(demo.screen()) ?? undefined);
    const [, service] = await waitFor(/curl -X PUT (\S+)\/_faults\/drop-third/);
    const fault = (method: string, name: string) => fetch(`${service}/_faults/${name}`, { method });
    await waitFor(/124 added/);
    await fault('PUT', 'drop-third');
    await waitFor(/(41 held[\s\S]*){2}/);
    await fault('DELETE', 'drop-third');
    await fault('PUT', 'down');
    await waitFor(/Z {2}failed\r\n[\s\S]*Z {2}failed/);
    demo.type(CONTROL_C);
    expect(await demo.waitForExit()).toBe(0);
    const screen = demo.screen();
    expect(screen).not.toContain('WARN');
    expect(screen.match(/held because/g)).toHaveLength(1);
    // The token lives 6 s: if it ends between the two polls, each fails for a reason of its own.
    const reasons = screen.replaceAll(/\s+/g, ' ').match(/The service answered [^.]+ with status 503/g) ?? [];
    expect(reasons).not.toEqual([]);
    expect(reasons).toEqual([...new Set(reasons)]);
    const [, command = ''] = /^ {11}→ league-sync (.+)\r$/m.exec(screen) ?? [];
    expect(command).toBe('accept-removals --database demo-data/leagues.db');
    expect((await runProgram([...command.split(' '), '--yes'], { cwd })).code).toBe(0);
  });
});
