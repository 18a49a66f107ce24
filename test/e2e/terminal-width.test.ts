import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { setUpSynced } from '../support/bench.ts';
import { eventually } from '../support/program.ts';
import { CONTROL_C, needTerminal, startAtTerminal } from '../support/terminal.ts';

const COMMANDS = [
  'sync',
  'status',
  'check',
  'accept-removals --yes',
  'changes --since 999',
  'webhook replay --since 1',
  'webhook test',
  'backup here/there.db',
  'status --database nowhere.db',
  'poll',
];
/** The column in which the longest lead of a line ends. */
const LEAD = 24;

describe('at a terminal', () => {
  needTerminal();

  it('of 40 columns the lines of every command are broken between words', async () => {
    const columns = 40;
    const bench = await setUpSynced();
    bench.simulator.setFault('drop-third', true);
    for (const command of COMMANDS) {
      const env = { ...bench.env, TERM: 'xterm' };
      const terminal = startAtTerminal(command, { cwd: bench.folder, env, columns });
      await terminal.waitForExit();
      const lines = stripVTControlCharacters(terminal.screen()).trimEnd().split('\r\n');
      expect(lines[0]).not.toBe('');
      const wide = lines.filter((line) => [...line].length > columns);
      // A path or an address is one word.
      expect([command, ...wide.filter((line) => (line.split(' ').at(-1)?.length ?? 0) < columns - LEAD)]).toEqual([
        command,
      ]);
    }
  });

  it.each([
    ['run', 40, /^.{21}INFO {2}worker\n {4}started \(process/],
    [
      'simulate --port 0',
      80,
      /^.{21}INFO {2}simulated service listens on http:\/\/127\.0\.0\.1:\d+;\n {27}simulate --help/,
    ],
  ])('%s at %i columns goes on below what it says', async (args, columns, said) => {
    const { folder: cwd, env } = await setUpSynced();
    const terminal = startAtTerminal(args, { cwd, env, columns });
    await eventually(
      'it has begun',
      () => terminal.screen().includes('logged in') || /has its/.test(terminal.screen()),
    );
    terminal.type(CONTROL_C);
    expect(await terminal.waitForExit()).toBe(0);
    const screen = stripVTControlCharacters(terminal.screen()).replaceAll('\r', '').replace('^C', '').trimEnd();
    expect(screen).toMatch(said);
    expect(screen.split('\n').filter((line) => line.length > columns && !line.includes('.db'))).toEqual([]);
  });
});
