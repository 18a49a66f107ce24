import { describe, expect, it } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { eventually, runProgram } from '../support/program.ts';
import { CONTROL_C, needTerminal, startAtTerminal } from '../support/terminal.ts';

describe('a demo at a terminal', () => {
  needTerminal();

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
    expect(screen.replaceAll(/\s+/g, ' ').match(/with status 503/g)).toHaveLength(1);
    const [, command = ''] = /^ {11}→ npx league-sync (.+)\r$/m.exec(screen) ?? [];
    expect(command).toBe('accept-removals --database demo-data/leagues.db');
    expect((await runProgram([...command.split(' '), '--yes'], { cwd })).code).toBe(0);
  });
});
